#include "train/run/weights/open_together.hpp"

#include "core/as_usage_error.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace monomorph::train {
namespace {

/// The text that rank 0 has, on all ranks.
std::string text_of_first_rank(const std::string& text, Communicator& communicator) {
  const bool is_first = communicator.rank() == 0;
  std::array<std::int64_t, 1> size{is_first ? static_cast<std::int64_t>(text.size()) : 0};
  communicator.all_reduce_sum(size);
  const auto n = static_cast<std::size_t>(size[0]);
  std::vector<std::int64_t> words(n / sizeof(std::int64_t) + 1);
  if (is_first) std::memcpy(words.data(), text.data(), n);
  communicator.all_reduce_sum(words);
  return {reinterpret_cast<const char*>(words.data()), n};
}

std::string find_together(const std::string& option, const std::string& path, Communicator& communicator) {
  const std::string found = together(communicator, "find the weights", [&] {
    return communicator.rank() == 0 ? as_usage_error(option, [&] { return find_weights(path); }) : std::string();
  });
  return text_of_first_rank(found, communicator);
}

/// @throws UsageError [WEIGHTS-16]
void check_same_weights(const WeightsSource& source, const std::string& option, Communicator& communicator) {
  if (communicator.size() == 1) return;
  const std::int64_t identity = together(communicator, "look at the weights", [&] {
    const auto number = std::bit_cast<std::int64_t>(source.identity());
    throw_if_truncated();
    return number;
  });
  const std::vector<std::int64_t> identities = all_gather_words(communicator, std::array{identity});
  std::vector<std::size_t> odd;
  for (std::size_t rank = 0; rank < identities.size(); ++rank)
    if (identities[rank] != identities.front()) odd.push_back(rank);
  if (odd.empty()) return;
  throw UsageError("WEIGHTS-16",
                   fmt::format("{} {} would start from other weights than rank 0, by the same path {}; let {} lie on a "
                               "file system that all ranks share, or give every machine the same files",
                               odd.size() == 1 ? "rank" : "ranks", fmt::join(odd, ", "), in_quotes(source.where()),
                               option));
}

}  // namespace

OpenedWeights open_together(const std::string& option, const std::string& path, Communicator& communicator,
                            const std::function<OpenedWeights(const std::string& found)>& open) {
  const std::string found = find_together(option, path, communicator);
  OpenedWeights opened =
      together(communicator, "open the weights", [&] { return as_usage_error(option, [&] { return open(found); }); });
  check_same_weights(*opened.source, option, communicator);
  together(communicator, "compare the weights", [&] {
    if (communicator.rank() == 0) as_usage_error(option, [&] { opened.source->check_copies(); });
    throw_if_truncated();
  });
  return opened;
}

}  // namespace monomorph::train
