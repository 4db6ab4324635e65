// Products are cuBLASLt's, which the emulator has not: what multiplies is tested on the simulated GPU.
#include "runtime/cuda/products/run_product.hpp"

#include <stdexcept>

namespace monomorph::cuda {

void run_product(Queue, const Product&) { throw std::logic_error("the emulator computes no products of cuBLASLt"); }

}  // namespace monomorph::cuda
