#pragma once
#include <memory>

#ifdef MONOMORPH_EMULATOR_TSAN
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void* fiber);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}
#endif

/// What ThreadSanitizer is told where kernels are built with it: a thread of a block is one of its own, and what orders
/// two of them is that they meet, and not that the emulator runs one after the other.
namespace monomorph::emulator {

#ifdef MONOMORPH_EMULATOR_TSAN
inline void enter_unordered(void* fiber) {
  constexpr unsigned unordered = 1;
  __tsan_switch_to_fiber(fiber, unordered);
}
/// That of a thread of a block.
class SanitizedFiber {
 public:
  void enter() { enter_unordered(fiber_.get()); }

 private:
  struct Destroy {
    void operator()(void* fiber) const { __tsan_destroy_fiber(fiber); }
  };
  std::unique_ptr<void, Destroy> fiber_{__tsan_create_fiber(0)};
};
/// That in which the emulator itself runs.
class CurrentFiber {
 public:
  void adopt() { fiber_ = __tsan_get_current_fiber(); }
  void enter() { enter_unordered(fiber_); }

 private:
  void* fiber_ = nullptr;
};
inline void happens_before(char& what) { __tsan_release(&what); }
inline void happens_after(char& what) { __tsan_acquire(&what); }
#else
struct SanitizedFiber {
  void enter() {}
};
struct CurrentFiber {
  void adopt() {}
  void enter() {}
};
inline void happens_before(char&) {}
inline void happens_after(char&) {}
#endif

}  // namespace monomorph::emulator
