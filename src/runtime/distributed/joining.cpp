#include "runtime/distributed/joining.hpp"

#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/poll.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <numeric>
#include <random>
#include <vector>

// Every process has a random name, and announces it in the store. Rank 0 answers each name with its own name, under
// which the table of this start lies. Notes of earlier starts do no harm: rank 0 may answer names for which nobody
// waits, but a rank looks only for the answer to its own name. Rank 0 goes on until all ranks have confirmed their
// answer.
namespace monomorph::distributed {
namespace {

using std::chrono::milliseconds;

std::string new_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::string announcement(int rank) { return fmt::format("announcement/{}", rank); }
std::string answer(const std::string& name) { return "answer/" + name; }
std::string joined(int rank) { return fmt::format("joined/{}", rank); }

void answer_announcement(Store& meeting, int rank, const std::string& start, milliseconds time_limit) {
  if (meeting.has(announcement(rank))) meeting.set(answer(meeting.get(announcement(rank), rank, time_limit)), start);
}

Store gather_ranks(Store& meeting, int size, milliseconds time_limit) {
  const std::string name = new_name();
  Store start = meeting.under(name + "/");
  std::vector<int> missing(size - 1);
  std::iota(missing.begin(), missing.end(), 1);
  const bool complete = poll(time_limit, [&] {
    for (const int rank : missing) answer_announcement(meeting, rank, name, time_limit);
    std::erase_if(missing, [&](int rank) { return start.has(joined(rank)); });
    return missing.empty();
  });
  if (!complete) throw absent_ranks(missing, time_limit);
  return start;
}

Store join_rank_0(Store& meeting, int rank, milliseconds time_limit) {
  const std::string name = new_name();
  const bool answered = poll(time_limit, [&] {
    meeting.set(announcement(rank), name);  // every time, because a late rank of an earlier start may overwrite it
    return meeting.has(answer(name));
  });
  if (!answered) throw absent_ranks({0}, time_limit);
  Store start = meeting.under(meeting.get(answer(name), 0, time_limit) + "/");
  start.set(joined(rank), "yes");
  return start;
}

}  // namespace

Store join(Store meeting, int rank, int size, milliseconds time_limit) {
  return rank == 0 ? gather_ranks(meeting, size, time_limit) : join_rank_0(meeting, rank, time_limit);
}

}  // namespace monomorph::distributed
