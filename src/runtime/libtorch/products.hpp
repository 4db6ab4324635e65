#pragma once
#include "runtime/machine/libtorch.hpp"

namespace monomorph::libtorch {

const Products& exported_products();

}  // namespace monomorph::libtorch
