#pragma once
#include <cstddef>
#include <cstdint>

namespace monomorph::runtime {

/// Copies much that is not read again soon, on all threads: what is written goes to memory at once, which spares
/// reading there first and leaves in the caches what the next pass needs. The two do not overlap.
void copy_past_caches(const std::byte* from, std::byte* to, std::int64_t n);

}  // namespace monomorph::runtime
