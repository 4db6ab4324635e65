#pragma once
#include <cstdint>
#include <span>

namespace monomorph::data {

/// Puts `ignored_target` in the place of targets that the tokens they belong to see: the first `prefix` tokens of each
/// sample of T see each other or, if where documents begin is given (B, T), those of each document.
void ignore_prefix_targets(std::int64_t prefix, std::int64_t T, const std::int32_t* document_starts_BT,
                           std::span<std::int32_t> targets_BT);

}  // namespace monomorph::data
