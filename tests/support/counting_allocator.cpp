#include "support/counting_allocator.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace {

std::atomic<bool> counting = false;
std::atomic<long> n_allocations = 0;
std::atomic<std::int64_t> live = 0, peak = 0;

void count(std::int64_t bytes) {
  if (counting.load(std::memory_order_relaxed)) n_allocations.fetch_add(1, std::memory_order_relaxed);
  const std::int64_t now = live.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::int64_t before = peak.load(std::memory_order_relaxed);
  while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

void uncount(std::int64_t bytes) { live.fetch_sub(bytes, std::memory_order_relaxed); }

void* counted(void* memory) {
  if (memory != nullptr) count(static_cast<std::int64_t>(malloc_usable_size(memory)));
  return memory;
}

void uncounted(void* memory) {
  if (memory != nullptr) uncount(static_cast<std::int64_t>(malloc_usable_size(memory)));
}

/// What is mapped as memory and not as a file: begin and size. In an array, as nothing may be allocated here.
std::array<std::pair<void*, std::size_t>, 1024> mappings;
std::mutex mappings_mutex;

/// @return how many bytes the entry of `begin` had, which becomes `size` bytes at `new_begin`; 0 if there is none
std::size_t change_mapping(void* begin, void* new_begin, std::size_t size) {
  const std::lock_guard lock(mappings_mutex);
  const auto found = std::ranges::find(mappings, begin, &std::pair<void*, std::size_t>::first);
  return found == mappings.end() ? 0 : std::exchange(*found, {new_begin, size}).second;
}

}  // namespace

namespace monomorph::testing {

void start_counting() {
  n_allocations = 0;
  counting = true;
}
long stop_counting() {
  counting = false;
  return n_allocations;
}
std::int64_t live_bytes() { return live; }
std::int64_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }

}  // namespace monomorph::testing

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): glibc's own names of what is replaced
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t n, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t bytes) { return counted(__libc_malloc(bytes)); }
void* calloc(std::size_t n, std::size_t bytes) { return counted(__libc_calloc(n, bytes)); }
void* realloc(void* memory, std::size_t bytes) {
  uncounted(memory);
  void* const moved = __libc_realloc(memory, bytes);
  if (moved == nullptr && bytes > 0) return counted(memory), nullptr;  // the old block is still there
  return counted(moved);
}
void* memalign(std::size_t alignment, std::size_t bytes) { return counted(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return memalign(alignment, bytes); }
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  *memory = memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  uncounted(memory);
  __libc_free(memory);
}

void* mmap(void* address, std::size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system call returns an address as a number
  void* const mapped = reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
  if (mapped != MAP_FAILED && file == -1 && (protection & PROT_WRITE) != 0) {
    change_mapping(nullptr, mapped, bytes);
    count(static_cast<std::int64_t>(bytes));
  }
  return mapped;
}
int munmap(void* begin, std::size_t bytes) noexcept {
  uncount(static_cast<std::int64_t>(change_mapping(begin, nullptr, 0)));
  return static_cast<int>(syscall(SYS_munmap, begin, bytes));
}
}
