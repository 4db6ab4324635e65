#pragma once
#include "runtime/cuda/products/product.hpp"

namespace monomorph::cuda {

/// By the plan of its kind, which the first product of the kind makes.
void run_product(Queue queue, const Product& product);

}  // namespace monomorph::cuda
