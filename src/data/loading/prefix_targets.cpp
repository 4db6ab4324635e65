#include <monomorph/data/loading/prefix_targets.hpp>

#include <monomorph/core/ignored_target.hpp>

namespace monomorph::data {

void ignore_prefix_targets(std::int64_t prefix, std::int64_t T, const std::int32_t* document_starts_BT,
                           std::span<std::int32_t> targets_BT) {
  if (prefix < 2) return;
  const auto size = static_cast<std::int64_t>(targets_BT.size());
  for (std::int64_t i = 0; i + 1 < size; ++i) {
    const std::int64_t next = i + 1, place_in_sample = next % T;  // the target is the next token
    const std::int64_t start = document_starts_BT != nullptr ? document_starts_BT[next] : 0;
    const std::int64_t place = place_in_sample - start;  // 0: the target begins a sample or a document of its own
    if (0 < place && place < prefix) targets_BT[i] = ignored_target;
  }
}

}  // namespace monomorph::data
