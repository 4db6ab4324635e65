#pragma once
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/queue.hpp>

#include "runtime/machine/isa.hpp"

#define MONOMORPH_LISTED(...) __VA_ARGS__
/// Defines a kernel as a call of the compilation that fits the processor, on the queue of CPUs; it is an event of
/// traces.
// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are parts of a declaration
#define MONOMORPH_DISPATCH(result, function, parameters, arguments) \
  MONOMORPH_PER_ISA(result function parameters)                     \
  result function(Queue, MONOMORPH_LISTED parameters) {             \
    const KernelSpan span(Work::elementwise, #function);            \
    return MONOMORPH_SELECT(function) arguments;                    \
  }
// NOLINTEND(bugprone-macro-parentheses)
