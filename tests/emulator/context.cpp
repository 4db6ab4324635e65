#include "context.hpp"

#include <algorithm>
#include <cstdint>

namespace monomorph::emulator {

#ifdef __x86_64__

// What a function must preserve goes onto the stack that is left and comes from the one that is entered. Kernels do not
// change how floating-point numbers are rounded, so that is left alone.
asm(R"(
.text
.type monomorph_emulator_switch, @function
monomorph_emulator_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size monomorph_emulator_switch, .-monomorph_emulator_switch
)");
extern "C" void monomorph_emulator_switch(void** left, void* entered);

void Context::begin(std::span<std::byte> stack, void (*entry)()) {
  // Six registers, the address that the switch returns to, and a word that stands for the return address of `entry`,
  // which expects the stack as a call leaves it: 8 bytes off a multiple of 16.
  constexpr int registers = 6, words = registers + 2;
  const std::uintptr_t end = reinterpret_cast<std::uintptr_t>(stack.data() + stack.size()) / 16 * 16;
  void** const frame = reinterpret_cast<void**>(end) - words;
  std::fill_n(frame, words, nullptr);
  frame[registers] = reinterpret_cast<void*>(entry);
  stack_pointer_ = frame;
}

void Context::switch_to(Context& other) { monomorph_emulator_switch(&stack_pointer_, other.stack_pointer_); }

#else

void Context::begin(std::span<std::byte> stack, void (*entry)()) {
  getcontext(&saved_);
  saved_.uc_stack.ss_sp = stack.data();
  saved_.uc_stack.ss_size = stack.size();
  saved_.uc_link = nullptr;
  makecontext(&saved_, entry, 0);
}

void Context::switch_to(Context& other) { swapcontext(&saved_, &other.saved_); }

#endif

}  // namespace monomorph::emulator
