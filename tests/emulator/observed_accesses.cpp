// What kernels do to memory: they are compiled with ThreadSanitizer's instrumentation, and instead of its library these
// functions are linked. So no launch has to declare what it reads and writes, and races of blocks are found.
#include "emulator/block_races.hpp"

namespace {

using monomorph::emulator::BlockRaces;
using enum BlockRaces::Kind;

/// Inlined, so that what it returns to is the kernel.
template <BlockRaces::Kind kind, std::size_t bytes>
[[gnu::always_inline]] inline void access(const volatile void* begin) {
  monomorph::emulator::observed(const_cast<const void*>(begin), bytes, kind == writes || kind == writes_atomically);
  BlockRaces::the().access<kind, bytes>(begin, __builtin_return_address(0));
}
template <BlockRaces::Kind kind> [[gnu::always_inline]] inline void access_range(const void* begin, std::size_t bytes) {
  monomorph::emulator::observed(begin, bytes, kind == writes);
  BlockRaces::the().access<kind>(begin, bytes, __builtin_return_address(0));
}

}  // namespace

extern "C" {
void __tsan_init() { monomorph::emulator::onlooker = &BlockRaces::the(); }
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read1(void* begin) { access<reads, 1>(begin); }
void __tsan_read2(void* begin) { access<reads, 2>(begin); }
void __tsan_read4(void* begin) { access<reads, 4>(begin); }
void __tsan_read8(void* begin) { access<reads, 8>(begin); }
void __tsan_read16(void* begin) { access<reads, 16>(begin); }
void __tsan_read_range(void* begin, std::size_t bytes) { access_range<reads>(begin, bytes); }
void __tsan_write1(void* begin) { access<writes, 1>(begin); }
void __tsan_write2(void* begin) { access<writes, 2>(begin); }
void __tsan_write4(void* begin) { access<writes, 4>(begin); }
void __tsan_write8(void* begin) { access<writes, 8>(begin); }
void __tsan_write16(void* begin) { access<writes, 16>(begin); }
void __tsan_write_range(void* begin, std::size_t bytes) { access_range<writes>(begin, bytes); }
std::int32_t __tsan_atomic32_fetch_add(volatile std::int32_t* to, std::int32_t x, int) {
  access<writes_atomically, sizeof x>(to);
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
std::int64_t __tsan_atomic64_fetch_add(volatile std::int64_t* to, std::int64_t x, int) {
  access<writes_atomically, sizeof x>(to);
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
std::int64_t __tsan_atomic64_load(const volatile std::int64_t* from, int) {
  access<reads_atomically, sizeof(std::int64_t)>(from);
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}
bool __tsan_atomic64_compare_exchange_strong(volatile std::int64_t* to, std::int64_t* expected, std::int64_t x, int,
                                             int) {
  access<writes_atomically, sizeof x>(to);
  return __atomic_compare_exchange_n(to, expected, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
}
