#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cpu {

void copy(Queue, View from, View to);  ///< converts between dtypes, rounding to nearest even; either may be strided
void zero(Queue, View x);
void add(Queue, View x, View y);                                ///< y += x
void scale(Queue, View x, double a, View y);                    ///< y = a x
void scale_and_add(Queue, View x, double a, View y, double b);  ///< y = a x + b y

}  // namespace monomorph::cpu
