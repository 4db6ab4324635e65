#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::kernels {

void copy(View from, View to);  ///< converts between dtypes, rounding to nearest even; either may be strided
void zero(View x);
void add(View x, View y);                                ///< y += x
void scale(View x, double a, View y);                    ///< y = a x
void scale_and_add(View x, double a, View y, double b);  ///< y = a x + b y

}  // namespace monomorph::kernels
