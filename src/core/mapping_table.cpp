#include "core/mapping_table.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

namespace monomorph {
namespace {

constexpr std::size_t most_mappings = 1024, most_path_bytes = 255;

struct Slot {
  std::atomic<std::uintptr_t> begin{0};  ///< 0: free; `taken`: being filled
  std::size_t n_bytes = 0;
  std::array<char, most_path_bytes + 1> path{};
};
constexpr std::uintptr_t taken = 1;
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free, "a signal handler may use no other atomics");

std::array<Slot, most_mappings> slots;

}  // namespace

void MappingTable::add(std::span<const std::byte> bytes, const std::string& path) noexcept {
  for (Slot& slot : slots) {
    std::uintptr_t free = 0;
    if (!slot.begin.compare_exchange_strong(free, taken)) continue;
    slot.n_bytes = bytes.size();
    const std::size_t n_path_bytes = std::min(path.size(), most_path_bytes);
    *std::copy_n(path.begin(), n_path_bytes, slot.path.begin()) = '\0';
    slot.begin.store(reinterpret_cast<std::uintptr_t>(bytes.data()), std::memory_order_release);
    return;
  }
}

void MappingTable::remove(std::span<const std::byte> bytes) noexcept {
  for (Slot& slot : slots) {
    auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
    if (slot.begin.compare_exchange_strong(begin, 0)) return;
  }
}

std::optional<MappingTable::Mapping> MappingTable::find(const void* address) noexcept {
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  for (const Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    if (begin <= taken || place < begin || place - begin >= slot.n_bytes) continue;
    return Mapping{{reinterpret_cast<const std::byte*>(begin), slot.n_bytes}, slot.path.data()};
  }
  return std::nullopt;
}

}  // namespace monomorph
