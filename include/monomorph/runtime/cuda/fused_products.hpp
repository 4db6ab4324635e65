#pragma once
#include <cstdint>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// What products on GPUs have beyond those on CPUs.
namespace monomorph::cuda {

// With the activation behind them (runtime/kernels/linear_activate.hpp), in one kernel where cuBLASLt has one.
void linear_gelu_tanh(Queue queue, View x_MK, View w_FK, View bias_F, View h_MF, View y_MF);
void linear_backward_input_gelu_tanh(Queue queue, View dout_MN, View w_NF, View h_MF, View dh_MF);

/// Of the table of algorithms by which products are computed (src/runtime/cuda/products/algorithm_table.hpp); 0 of an
/// empty one.
std::int64_t product_table_hash(Queue queue);

}  // namespace monomorph::cuda
