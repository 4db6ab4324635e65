#include "populating.hpp"

#include "runtime/machine/behind.hpp"

#include <sys/mman.h>

#include <algorithm>

namespace monomorph::runtime {
namespace {

constexpr std::int64_t bytes_at_a_time = std::int64_t{2} << 20;  ///< a huge page, which is one fault

}  // namespace

Populating::Populating(std::byte* memory, std::int64_t bytes, ComputedBy steps)
    : pace_(steps), populating_(behind([this, memory, bytes] { populate(memory, bytes); })) {}

void Populating::stop() {
  if (!populating_.valid()) return;
  stops_ = true;
  pace_.hurry();
  populating_.get();
}

void Populating::populate(std::byte* memory, std::int64_t bytes) {
  for (std::int64_t first = 0; first < bytes && !stops_; first += bytes_at_a_time) {
    const std::int64_t n = std::min(bytes_at_a_time, bytes - first);
    if (::madvise(memory + first, static_cast<std::size_t>(n), MADV_POPULATE_WRITE) != 0) return;
    pace_.rest();
  }
}

}  // namespace monomorph::runtime
