#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/routing.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// What the experts of a mixture compute, each with its own rows of pairs. How many rows an expert has lies where the
/// routing does, in the device's memory, so a loop over experts on the host would wait for it: these are kernels. Rows
/// behind the last one that a routing has are neither read nor written.
namespace monomorph {

/// Matrices of all experts, one expert's below the other's. Two are side by side in what they make: those of a gate and
/// of what it gates.
struct ExpertMatrices {
  View parts_EFxK[2];
  int n = 1;
};

}  // namespace monomorph

namespace monomorph::cpu {

/// y = x wᵀ with the matrices of each row's expert. F is y's width, or half of it where there are two matrices.
void expert_linear(Queue, View x_NK, const ExpertMatrices& w, View y_NF, const Routing& routing);
/// dx = dy w, summed over the matrices.
void expert_linear_backward_input(Queue, View dy_NF, const ExpertMatrices& w, View dx_NK, const Routing& routing);
/// dw = dyᵀ x for each expert, zero where it has no rows; added to what is there with `accumulate`. dw, or
/// one of its two, may be absent: of what is frozen.
void expert_linear_backward_weight(Queue, View dy_NF, View x_NK, const ExpertMatrices& dw, const Routing& routing,
                                   bool accumulate);

/// The activation function of all rows of pairs, and its backward pass, which writes dh over h if the activation is
/// gated, otherwise over dy.
void activate_rows(Queue, Activation activation, View h_NG, View y_NF, const Routing& routing);
void activate_rows_backward(Queue, Activation activation, View h_NG, View dy_NF, const Routing& routing);

}  // namespace monomorph::cpu
