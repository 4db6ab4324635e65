#pragma once
#include <monomorph/runtime/view.hpp>

namespace monomorph::kernels {

void copy(View from, View to);  ///< converts between dtypes; rounds to nearest, ties to even
void zero(View x);
void add(View x, View y);       ///< y += x

}  // namespace monomorph::kernels
