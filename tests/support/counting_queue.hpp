#pragma once
#include <monomorph/device/cpu.hpp>
#include <monomorph/runtime/kernels/kernel_sets.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>

#include "runtime/kernels/partner_search.hpp"

#include <cstdint>

/// CPUs whose queue counts the floating-point operations of the matrix products that a step gives it, by the sizes that
/// each kernel is called with: 2 M N K of a product, and of attention those of the pairs of a query and a key that the
/// mask and the documents of the call let see each other. What is no product is not counted.
namespace monomorph::counting {

struct Counted {
  double products = 0, attention = 0;
  double all() const { return products + attention; }
};
/// Of this thread: ranks that are threads count each their own.
inline Counted& counted() {
  thread_local Counted counted;
  return counted;
}

/// The kernels that are not below are those of the queue that it is.
struct Queue : cpu::Queue {};

struct Device : device::Cpu {
  static constexpr std::string_view name = "Counting";
  using Queue = counting::Queue;
};
static_assert(DevicePolicy<Device>);

inline void count(std::int64_t M, std::int64_t N, std::int64_t K) {
  counted().products += 2.0 * static_cast<double>(M * N * K);
}

inline void linear(Queue queue, View x, View w, View bias, View y) {
  count(x.shape.rows, w.shape.rows, w.shape.cols);
  cpu::linear(queue, x, w, bias, y);
}
inline void linear_add(Queue queue, View x, View w, View bias, View residual, View y) {
  count(x.shape.rows, w.shape.rows, w.shape.cols);
  cpu::linear_add(queue, x, w, bias, residual, y);
}
inline void linear_backward_input(Queue queue, View dy, View w, View dx, bool accumulate = false) {
  count(dx.shape.rows, w.shape.rows, w.shape.cols);
  cpu::linear_backward_input(queue, dy, w, dx, accumulate);
}
/// The gradient of what is frozen is absent, and not computed.
inline void linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate) {
  if (dw.present()) count(x.shape.rows, dw.shape.rows, dw.shape.cols);
  cpu::linear_backward_weight(queue, dy, x, dw, dbias, accumulate);
}

inline void scaled_linear(Queue queue, View x, View w, View bias, View y, const ScaledProduct& product) {
  count(product.M, product.N, product.K);
  cpu::scaled_linear(queue, x, w, bias, y, product);
}
inline void scaled_linear_add(Queue queue, View x, View w, View bias, View residual, View y,
                              const ScaledProduct& product) {
  count(product.M, product.N, product.K);
  cpu::scaled_linear_add(queue, x, w, bias, residual, y, product);
}
inline void scaled_linear_backward_input(Queue queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  count(product.M, product.N, product.K);
  cpu::scaled_linear_backward_input(queue, w, dx, accumulate, product);
}
inline void scaled_linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate,
                                          const ScaledProduct& product) {
  if (dw.present()) count(product.M, product.N, product.K);
  cpu::scaled_linear_backward_weight(queue, dy, x, dw, dbias, accumulate, product);
}

/// Of the rows that the routing has, each with the matrices of its expert.
inline void count_experts(const ExpertMatrices& w, const Routing& routing) {
  for (int i = 0; i < w.n; ++i)
    if (const View& of_all = w.parts_EFxK[i]; of_all.present())
      count(routing.n_rows(), of_all.shape.rows / routing.n_experts, of_all.shape.cols);
}
inline void expert_linear(Queue queue, View x, const ExpertMatrices& w, View y, const Routing& routing) {
  count_experts(w, routing);
  cpu::expert_linear(queue, x, w, y, routing);
}
inline void expert_linear_backward_input(Queue queue, View dy, const ExpertMatrices& w, View dx,
                                         const Routing& routing) {
  count_experts(w, routing);
  cpu::expert_linear_backward_input(queue, dy, w, dx, routing);
}
inline void expert_linear_backward_weight(Queue queue, View dy, View x, const ExpertMatrices& dw,
                                          const Routing& routing, bool accumulate) {
  count_experts(dw, routing);
  cpu::expert_linear_backward_weight(queue, dy, x, dw, routing, accumulate);
}

/// The pairs of a query and a key of all rows that see each other, asked one by one.
inline std::int64_t seen_pairs(const AttentionShape& shape, const AttentionMask& mask,
                               const std::int32_t* document_starts_BT) {
  const auto start = [&](std::int64_t row, std::int64_t token) {
    return document_starts_BT == nullptr ? std::int64_t{0} : document_starts_BT[row * shape.tokens + token];
  };
  std::int64_t pairs = 0;
  for (std::int64_t row = 0; row < shape.batch; ++row)
    for (std::int64_t query = 0; query < shape.tokens; ++query)
      for (std::int64_t key = 0; key < shape.tokens; ++key) {
        const std::int64_t first = start(row, query);
        pairs += start(row, key) == first && key >= query - mask.before &&
                 (key <= query + mask.after || key - first < mask.prefix);
      }
  return pairs;
}
/// @param products of two multiply-adds for each pair and feature: scores and values are two
inline void count_attention(int products, const AttentionShape& shape, const AttentionMask& mask,
                            const std::int32_t* document_starts_BT) {
  counted().attention += 2.0 * products * static_cast<double>(shape.heads * shape.head_dim) *
                         static_cast<double>(seen_pairs(shape, mask, document_starts_BT));
}
inline constexpr int forward_products = 2;   ///< scores, and the values that they weigh
inline constexpr int backward_products = 4;  ///< the gradients of queries, keys, values and weights
using Starts = const std::int32_t*;
inline void tiled_attention(Queue queue, View q, View k, View v, View out, View lse, const AttentionShape& shape,
                            const AttentionMask& mask, Starts starts = nullptr) {
  count_attention(forward_products, shape, mask, starts);
  cpu::tiled_attention(queue, q, k, v, out, lse, shape, mask, starts);
}
inline void tiled_attention_backward(Queue queue, View q, View k, View v, View out, View lse, View dout, View dq,
                                     View dk, View dv, const AttentionShape& shape, const AttentionMask& mask,
                                     Starts starts = nullptr) {
  count_attention(backward_products, shape, mask, starts);
  cpu::tiled_attention_backward(queue, q, k, v, out, lse, dout, dq, dk, dv, shape, mask, starts);
}
inline void reference_attention(Queue queue, View q, View k, View v, View out, View lse, const AttentionShape& shape,
                                const AttentionMask& mask, const DropoutKey& key, Starts starts = nullptr) {
  count_attention(forward_products, shape, mask, starts);
  cpu::reference_attention(queue, q, k, v, out, lse, shape, mask, key, starts);
}
inline void reference_attention_backward(Queue queue, View q, View k, View v, View out, View lse, View dout, View dq,
                                         View dk, View dv, const AttentionShape& shape, const AttentionMask& mask,
                                         const DropoutKey& key, Starts starts = nullptr) {
  count_attention(backward_products, shape, mask, starts);
  cpu::reference_attention_backward(queue, q, k, v, out, lse, dout, dq, dk, dv, shape, mask, key, starts);
}

/// The schedule of its products is one for all devices: it goes through this queue once, to be counted, before CPUs
/// compute what counts.
inline void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  compare_pairs(queue, embeddings, terms, [](const PartnerSearch&, std::int64_t, bool) {});
  cpu::contrastive_loss(queue, embeddings, terms);
}

static_assert(Kernels<Queue> && SaysItsKernels<Device>);

}  // namespace monomorph::counting
