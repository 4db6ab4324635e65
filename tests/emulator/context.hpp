#pragma once
#include <cstddef>
#include <span>

#ifndef __x86_64__
#include <ucontext.h>
#endif

namespace monomorph::emulator {

/// A flow of control with a stack of its own, which goes on where it left. On x86-64 a switch costs some nanoseconds;
/// elsewhere it is the C library's, which asks the system for its signal mask each time.
class Context {
 public:
  /// It will begin with `entry`, which must not return.
  void begin(std::span<std::byte> stack, void (*entry)());
  /// Leaves this one, which is running, and goes on in the other.
  void switch_to(Context& other);

 private:
#ifdef __x86_64__
  void* stack_pointer_ = nullptr;
#else
  ucontext_t saved_;
#endif
};

}  // namespace monomorph::emulator
