#pragma once
#include <cstdint>
#include <functional>

namespace monomorph::data {

/// Told how many bytes of the input (or what else is counted) are done; the total is 0 where it is not known (a pipe).
/// Called often, by one thread at a time. May be empty.
using ProgressCallback = std::function<void(std::uint64_t done_bytes, std::uint64_t total_bytes)>;

}  // namespace monomorph::data
