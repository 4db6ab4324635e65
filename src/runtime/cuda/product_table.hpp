#pragma once
#include "runtime/cuda/product.hpp"

namespace monomorph::cuda {

/// Which of cuBLASLt's recommendations computes a product, as bench/gpu/tune has measured; 0, the first, of what it has
/// not. A table and no measurement at start-up, which could choose otherwise when a run is resumed, and change its
/// bits.
int rank_in_table(const Product& product);

}  // namespace monomorph::cuda
