#pragma once
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::kernels {

void copy(View from, View to);  ///< converts between dtypes, rounding to nearest even; either may be strided
void zero(View x);
void add(View x, View y);  ///< y += x

}  // namespace monomorph::kernels
