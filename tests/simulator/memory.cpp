#include "simulator/memory.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace monomorph::simulator {
namespace {

constexpr std::size_t page = 4096, huge_page = std::size_t{1} << 21;
constexpr std::size_t alignment = 256;  // CUDA's allocations begin at multiples of 256 bytes
constexpr std::size_t most_marked = std::size_t{32} << 20;

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t multiple) {
  return (bytes + multiple - 1) / multiple * multiple;
}
void protect(std::byte* memory, std::size_t bytes, int how) {
  const std::uintptr_t in_page = reinterpret_cast<std::uintptr_t>(memory) % page;
  if (mprotect(memory - in_page, in_page + bytes, how) != 0) std::abort();
}

}  // namespace

Memory::Memory() {
  void* const reserved = mmap(nullptr, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) std::abort();
  begin_ = static_cast<std::byte*>(reserved);
  // Each operation takes the GPU's memory into reach, and that costs by the page. Without huge ones it only takes
  // longer.
  madvise(reserved, space, MADV_HUGEPAGE);
}

std::byte* Memory::allocate(std::size_t bytes, Kind kind) {
  if (kind == Kind::gpu && bytes > free_gpu_bytes()) return nullptr;
  const std::size_t of_pages = rounded_up(bytes, page);
  if (n_given_ + of_pages + page > space) return nullptr;
  std::byte* const memory = begin_ + n_given_ + of_pages - rounded_up(bytes, alignment);  // up to the end of its pages
  n_given_ += of_pages + page;
  protect(memory, bytes, PROT_READ | PROT_WRITE);
  std::memset(memory, 0xFF, std::min(rounded_up(bytes, alignment), most_marked));
  if (kind == Kind::gpu && !is_reachable_) protect(memory, bytes, PROT_NONE);
  live_[memory] = {bytes, kind};
  if (kind == Kind::gpu) used_gpu_bytes_ += bytes;
  return memory;
}

std::size_t Memory::release(std::byte* memory) {
  const Allocation allocation = live_.at(memory);
  protect(memory, allocation.bytes, PROT_NONE);
  madvise(begin_ + offset_of(memory) / page * page, rounded_up(allocation.bytes, page), MADV_DONTNEED);
  live_.erase(memory);
  if (allocation.kind == Kind::gpu) used_gpu_bytes_ -= allocation.bytes;
  return allocation.bytes;
}

void Memory::fill(void* memory, int byte, std::size_t bytes) {
  auto* const begin = static_cast<std::byte*>(memory);
  const std::size_t whole = rounded_up(offset_of(begin), huge_page), end = offset_of(begin) + bytes,
                    end_of_whole = end / huge_page * huge_page;
  if (byte != 0 || whole >= end_of_whole) {
    std::memset(begin, byte, bytes);
    return;
  }
  std::memset(begin, 0, whole - offset_of(begin));
  if (madvise(begin_ + whole, end_of_whole - whole, MADV_DONTNEED) != 0) std::abort();
  std::memset(begin_ + end_of_whole, 0, end - end_of_whole);
}

std::string Memory::place_of(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  for (const auto& [memory, allocation] : live_)
    if (at >= memory && at < memory + allocation.bytes)
      return "byte " + std::to_string(at - memory) + " of the " + std::to_string(allocation.bytes) +
             " of an allocation";
  return "in memory of the host";
}

void Memory::set_reachable(bool reachable) {
  if (std::exchange(is_reachable_, reachable) == reachable) return;
  for (const auto& [memory, allocation] : live_)
    if (allocation.kind == Kind::gpu) protect(memory, allocation.bytes, reachable ? PROT_READ | PROT_WRITE : PROT_NONE);
}

}  // namespace monomorph::simulator
