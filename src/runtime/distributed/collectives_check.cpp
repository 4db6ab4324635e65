#include <monomorph/runtime/comm/collectives_check.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/memory_access.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>

namespace monomorph {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int repeats = 3;

std::int64_t bytes_of(std::int64_t n) { return n * size_of(DType::fp32); }

/// Whole numbers whose sums over neighbouring ranks stay small, however many there are: exact in every dtype.
float number(int rank, std::int64_t i) {
  constexpr int of_rank[] = {0, 3, -1, -2};
  return static_cast<float>(of_rank[rank % 4] + (rank % 2 == 0 ? 1 : -1) * (i % 13));
}

/// The shortest of a few runs on each rank, in every rank.   @param prepare takes no time of it
template <class Prepare, class Act>
std::vector<double> seconds_of_ranks(Communicator& communicator, Prepare prepare, Act act) {
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i) {
    prepare();
    const std::int64_t here = 1;
    all_gather_words(communicator, {&here, 1});  // all begin together
    const auto begin = Clock::now();
    act();
    best = std::min(best, std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const auto word = std::bit_cast<std::int64_t>(best);
  std::vector<double> seconds;
  for (const std::int64_t bits : all_gather_words(communicator, {&word, 1}))
    seconds.push_back(std::bit_cast<double>(bits));
  return seconds;
}

class Check {
 public:
  Check(Communicator& communicator, CheckedCommunicator& checked, std::int64_t elements)
      : communicator_(communicator),
        checked_(checked),
        elements_(elements),
        arena_(bytes_of((shards_ + 1) * elements), *memory_.allocator),
        shard_(arena_.take(elements, DType::fp32)),
        unsharded_(arena_.take(shards_ * elements, DType::fp32)) {}

  std::vector<CollectiveMeasure> collectives() {
    if (shards_ > 1) {
      all_gather();
      reduce_scatter("reduction of gradients", {.last = false}, true);
    }
    if (shards_ < size_)
      reduce_scatter(shards_ == 1 ? "reduction of gradients" : "the same, then with replicas", {}, false);
    return std::move(measures_);
  }

  /// Speeds between all pairs of ranks. In each round, as in a round-robin tournament, a rank exchanges messages with
  /// one other.
  std::vector<PairMeasure> pairs() {
    const int seats = size_ + size_ % 2;
    std::vector<std::int64_t> local(size_);
    std::string wrong;
    for (int round = 0; round < seats - 1; ++round) {
      const int other = partner(rank_, round, seats);
      if (other >= size_) continue;
      local[other] = std::bit_cast<std::int64_t>(exchange(other));
      if (wrong.empty() && !holds(unsharded_.columns(0, elements_), [&](std::int64_t i) { return number(other, i); }))
        wrong = fmt::format("message from rank {}", other);
    }
    together(communicator_, "check messages", [&] {
      if (!wrong.empty()) throw wrong_numbers(wrong);
    });
    const std::vector<std::int64_t> all = all_gather_words(communicator_, local);
    std::vector<PairMeasure> measures;
    for (int a = 0; a < size_; ++a)
      for (int b = a + 1; b < size_; ++b)
        measures.push_back(
            {a, b, std::min(std::bit_cast<double>(all[a * size_ + b]), std::bit_cast<double>(all[b * size_ + a]))});
    return measures;
  }

 private:
  void all_gather() {
    const std::vector<double> seconds = seconds_of_ranks(
        communicator_, [&] { write_numbers(shard_); },
        [&] {
          communicator_.all_gather(0, shard_, unsharded_);
          wait();
        });
    require("gather of parameters", unsharded_, [&](std::int64_t i) {
      return number(rank_ / shards_ * shards_ + static_cast<int>(i / elements_), i % elements_);
    });
    note("gather of parameters", true, (shards_ - 1) * bytes_of(elements_), seconds);
  }

  /// @param within_group among the ranks of one copy, or else among all
  void reduce_scatter(const char* what, Reduction reduction, bool within_group) {
    const std::int64_t before = sent();
    const View sums = shards_ > 1 ? shard_ : unsharded_;
    const std::vector<double> seconds = seconds_of_ranks(
        communicator_, [&] { write_numbers(unsharded_); },
        [&] {
          communicator_.reduce_scatter(0, unsharded_, sums, reduction);
          wait();
        });
    const int first = within_group ? rank_ / shards_ * shards_ : 0, n = within_group ? shards_ : size_;
    require("reduction of gradients", sums, [&](std::int64_t i) {
      float sum = 0;
      for (int r = first; r < first + n; ++r) sum += number(r, rank_ % shards_ * elements_ + i);
      return sum;
    });
    note(what, within_group, (sent() - before) / repeats, seconds);
  }

  /// Until the results are there, on a device, too.
  void wait() {
    communicator_.wait(0);
    static_cast<void>(memory_.to_host(shard_.columns(0, 1), host_));
  }

  void write_numbers(View to) {
    const View place = memory_.place_on_host(to, host_);
    for (std::int64_t i = 0; i < place.elements(); ++i) place.as<float>()[i] = number(rank_, i);
    memory_.from_host(place, to);
  }
  template <class Expected> bool holds(View view, Expected expected) {
    const View found = memory_.to_host(view, host_);
    for (std::int64_t i = 0; i < found.elements(); ++i)
      if (found.as<float>()[i] != expected(i)) return false;
    return true;
  }
  Error wrong_numbers(std::string_view what) const {
    return Error("RANK-13", fmt::format("the {} gives rank {} wrong numbers; see whether memory or network of its "
                                        "machine fails",
                                        what, rank_));
  }

  std::int64_t sent() const {
    const plan::Traffic traffic = communicator_.traffic();
    return traffic.reductions.bytes + traffic.replica_reductions.bytes;
  }

  template <class Expected> void require(const char* what, View result, Expected expected) {
    together(communicator_, fmt::format("check the {}", what), [&] {
      if (!holds(result, expected)) throw wrong_numbers(what);
    });
  }

  /// A measure for each group of ranks: those of one copy, which lie side by side, or those that hold the same part.
  void note(const char* what, bool of_copies, std::int64_t bytes, const std::vector<double>& seconds) {
    const int n = of_copies ? shards_ : size_ / shards_, stride = of_copies ? 1 : shards_;
    for (int group = 0; group < size_ / n; ++group) {
      CollectiveMeasure& measure = measures_.emplace_back(CollectiveMeasure{what, {}, 0});
      double slowest = 0;
      for (int i = 0; i < n; ++i) {
        measure.ranks.push_back((of_copies ? group * n : group) + i * stride);
        slowest = std::max(slowest, seconds[static_cast<std::size_t>(measure.ranks.back())]);
      }
      measure.bytes_per_second = static_cast<double>(bytes) / slowest;
    }
  }

  /// The circle method for tournaments: seat `seats - 1` stays, and the others move on by one each round.
  static int partner(int rank, int round, int seats) {
    const int moving = seats - 1;
    if (rank == moving) return round * (seats / 2) % moving;
    const int other = ((round - rank) % moving + moving) % moving;
    return other == rank ? moving : other;
  }

  /// Bytes per second in each direction.
  double exchange(int other) {
    const View received = unsharded_.columns(0, elements_);
    write_numbers(shard_);
    double best = 0;
    for (int i = 0; i < repeats; ++i) {
      const auto begin = Clock::now();
      checked_.exchange(other, shard_, received);
      best = std::max(best, static_cast<double>(bytes_of(elements_)) /
                                std::chrono::duration<double>(Clock::now() - begin).count());
    }
    return best;
  }

  Communicator& communicator_;
  CheckedCommunicator& checked_;
  const std::int64_t elements_;  ///< of a part
  const int rank_ = communicator_.rank(), size_ = communicator_.size(), shards_ = communicator_.shards();
  const MemoryAccess memory_ = checked_.memory();
  Arena arena_;  ///< of the memory that collectives work in
  View shard_, unsharded_;
  HostBuffer host_;
  std::vector<CollectiveMeasure> measures_;
};

}  // namespace

CollectivesCheck check_collectives(Communicator& communicator, CheckedCommunicator& checked, std::int64_t elements) {
  Check check(communicator, checked, elements);
  CollectivesCheck result{.collectives = check.collectives(), .slowest = {}, .fastest = {}};
  const std::vector<PairMeasure> pairs = check.pairs();
  result.slowest = *std::ranges::min_element(pairs, {}, &PairMeasure::bytes_per_second);
  result.fastest = *std::ranges::max_element(pairs, {}, &PairMeasure::bytes_per_second);
  return result;
}

}  // namespace monomorph
