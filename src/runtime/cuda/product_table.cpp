#include "runtime/cuda/product_table.hpp"

namespace monomorph::cuda {

int rank_in_table(const Product&) { return 0; }

}  // namespace monomorph::cuda
