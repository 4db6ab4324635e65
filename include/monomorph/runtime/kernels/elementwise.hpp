#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cpu {

void copy(Queue, View from, View to);  ///< converts between dtypes, rounding to nearest even; either may be strided
void zero(Queue, View x);
void add(Queue, View x, View y);                                ///< y += x
void scale(Queue, View x, double a, View y);                    ///< y = a x
void scale_and_add(Queue, View x, double a, View y, double b);  ///< y = a x + b y

/// y = cap · tanh(x / cap), which may take the place of x.
void soft_cap(Queue, View x, double cap, View y);
/// dx = (1 - (y / cap)²) · dy, which may take the place of dy.
void soft_cap_backward(Queue, View y, View dy, double cap, View dx);

}  // namespace monomorph::cpu
