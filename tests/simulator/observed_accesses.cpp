// What kernels do to memory, told to the simulator: they are compiled with ThreadSanitizer's instrumentation, and
// instead of its library these functions are linked. So no launch has to declare what it reads and writes.
#include <cstddef>
#include <cstdint>

#include "simulator/simulator.hpp"

namespace {

void read(const void* begin, std::size_t bytes) { monomorph::simulator::Simulator::the().reads(begin, bytes); }
void written(const void* begin, std::size_t bytes) { monomorph::simulator::Simulator::the().writes(begin, bytes); }

}  // namespace

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read1(void* begin) { read(begin, 1); }
void __tsan_read2(void* begin) { read(begin, 2); }
void __tsan_read4(void* begin) { read(begin, 4); }
void __tsan_read8(void* begin) { read(begin, 8); }
void __tsan_read16(void* begin) { read(begin, 16); }
void __tsan_read_range(void* begin, std::size_t bytes) { read(begin, bytes); }
void __tsan_write1(void* begin) { written(begin, 1); }
void __tsan_write2(void* begin) { written(begin, 2); }
void __tsan_write4(void* begin) { written(begin, 4); }
void __tsan_write8(void* begin) { written(begin, 8); }
void __tsan_write16(void* begin) { written(begin, 16); }
void __tsan_write_range(void* begin, std::size_t bytes) { written(begin, bytes); }
std::int32_t __tsan_atomic32_fetch_add(volatile std::int32_t* to, std::int32_t x, int) {
  written(const_cast<std::int32_t*>(to), sizeof x);
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
std::int64_t __tsan_atomic64_fetch_add(volatile std::int64_t* to, std::int64_t x, int) {
  written(const_cast<std::int64_t*>(to), sizeof x);
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
std::int64_t __tsan_atomic64_load(const volatile std::int64_t* from, int) {
  read(const_cast<const std::int64_t*>(from), sizeof(std::int64_t));
  return __atomic_load_n(from, __ATOMIC_RELAXED);
}
bool __tsan_atomic64_compare_exchange_strong(volatile std::int64_t* to, std::int64_t* expected, std::int64_t x, int,
                                             int) {
  written(const_cast<std::int64_t*>(to), sizeof x);
  return __atomic_compare_exchange_n(to, expected, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
}
