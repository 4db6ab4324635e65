#pragma once
#include "bench/gpu/kernel_costs.hpp"

#include <sys/mman.h>
#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/kernels/kernel_sets.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <stdexcept>
#include <string>

/// A device that computes nothing and counts what its kernels would move and compute. A step on it has the kernels that
/// it has on a GPU, at the sizes of real models: its memory is addresses that nobody touches.
namespace bench::counting {

using namespace monomorph;
using costs::Cost;

/// What was counted of one kind of kernel.
struct Counted {
  std::int64_t calls = 0;
  Cost cost;
};

inline std::map<std::string, Counted>& counted() {
  static std::map<std::string, Counted> by_kernel;
  return by_kernel;
}
inline void count(const std::string& kernel, const Cost& cost) {
  if (cost.bytes() == 0) return;
  Counted& sum = counted()[kernel];
  ++sum.calls;
  sum.cost += cost;
}

struct Queue {
  using Updates = Queue;
};
inline void synchronize(Queue) {}
template <class F> void once(Queue, F&& f) { f(); }
template <class F> void side_by_side(Queue, std::int64_t n, F&& f) {
  for (std::int64_t i = 0; i < n; ++i) f(i);
}

/// Counts what f asks for as one kernel of each kind, as a GPU has it for updates of different elements.
template <class F> void join_updates(Queue queue, F&& f) {
  auto before = counted();
  f(queue);
  for (auto& [kernel, sum] : counted()) sum.calls = std::min(sum.calls, before[kernel].calls + 1);
}

inline const Allocator& allocator(Queue) {
  static constexpr Allocator addresses{
      .allocate =
          [](std::int64_t bytes) {
            void* const begin = mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (begin == MAP_FAILED) throw std::runtime_error("there are not so many addresses");
            return static_cast<std::byte*>(begin);
          },
      .release = [](std::byte* begin, std::int64_t bytes) { munmap(begin, static_cast<std::size_t>(bytes)); }};
  return addresses;
}
inline const Allocator& host_allocator(Queue queue) { return allocator(queue); }
inline View place_on_host(Queue, View view, HostBuffer&) { return view; }
inline View copy_to_host(Queue, View view, HostBuffer&) { return view; }
inline void copy_from_host(Queue, View, View) {}
inline DeviceUse device_use(Queue) { return {}; }

struct Transfers {
  std::uint64_t start(View from, View) {
    count("copies to and from the host", {costs::bytes_of({from}), 0});
    return ++n_started;
  }
  void wait(std::uint64_t) {}
  void wait_for_all() {}
  std::uint64_t n_started = 0;
};
inline Transfers transfers(Queue, monomorph::Transfers::Timing) { return {}; }

/// The tokens whose logits exist at a time, and what it computes, are those of a GPU.
struct Device {
  static constexpr std::string_view name = "Counting";
  using Queue = counting::Queue;
  using kernel_sets = KernelSets<kernels::ScaledProducts, kernels::Orthogonalization>;
  static constexpr bool own_memory = true;
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t padded_vocab) {
    return device::Cuda::loss_chunk_tokens(padded_vocab);
  }
  static constexpr std::int64_t batch_scratch_elements = device::Cuda::batch_scratch_elements;
};

using Starts = const std::int32_t*;

// First values, tables and decoding are no part of a step.
inline void fill(Queue, View, double) {}
inline void fill_normal(Queue, View, const random::Stream&, std::uint64_t, double, double) {}
inline void fill_uniform(Queue, View, const random::Stream&, std::uint64_t, double) {}
inline void rotary_table(Queue, const RotarySpec&, View, View) {}
inline void write_to_pages(Queue, View, View, const PagedTokens&) {}
inline void paged_attention(Queue, View, View, View, View, const AttentionShape&, const AttentionMask&,
                            const PagedTokens&) {}
// A few words each.
inline void begin_step(Queue, StepScalars*, std::span<std::int64_t>) {}
inline void begin_micro_batch(Queue, StepScalars*) {}
inline void end_micro_batch(Queue, StepScalars*) {}
inline void keep_metrics(Queue, StepScalars*) {}
inline void write_step_words(Queue, StepScalars*, const StepSettings&, const StepWords&) {}
inline void read_step_words(Queue, StepScalars*, const StepWords&) {}
inline void decide_step(Queue, StepScalars*, const StepSettings&, bool) {}
inline void amax_scales(Queue, View, int, View) {}
inline void record_amax(Queue, const ElementUpdate&, std::int64_t, Shape, const std::int64_t*, const UpdateTerms&) {}

inline void copy(Queue, View from, View to) { count("copy", costs::copy(from, to)); }
inline void zero(Queue, View x) { count("zero", costs::zero(x)); }
inline void add(Queue, View x, View y) { count("add", costs::moves({x, y}, {y})); }
inline void pairwise_sum(Queue, std::span<const View> parts, View sum, bool accumulate) {
  Cost cost = costs::moves({}, {sum});
  for (const View& part : parts) cost.read += costs::bytes_of({part});
  cost.read += costs::again(sum, accumulate);
  count("sums of gradients", cost);
}
inline void scale(Queue, View x, double a, View y) { count("scale", costs::scale(x, a, y)); }
inline void soft_cap(Queue, View x, double cap, View y) { count("soft caps", costs::soft_cap(x, cap, y)); }
inline void soft_cap_backward(Queue, View y, View dy, double cap, View dx) {
  count("soft caps", costs::soft_cap_backward(y, dy, cap, dx));
}
inline void dropout(Queue, View x, View y, const DropoutKey&) { count("dropout", costs::copy(x, y)); }
inline void dropout_add(Queue, View x, View residual, View y, const DropoutKey&) {
  count("dropout", costs::moves({x, residual}, {y}));
}
#define MONOMORPH_COUNT_ACTIVATION(name)                                             \
  inline void name(Queue, View h, View y) { count(#name, costs::activation(h, y)); } \
  inline void name##_backward(Queue, View h, View dy, View dh) {                     \
    count(#name " backward", costs::activation_backward(h, dy, dh));                 \
  }
MONOMORPH_COUNT_ACTIVATION(gelu_exact)
MONOMORPH_COUNT_ACTIVATION(gelu_tanh)
MONOMORPH_COUNT_ACTIVATION(relu_squared)
MONOMORPH_COUNT_ACTIVATION(swiglu)
MONOMORPH_COUNT_ACTIVATION(geglu_exact)
MONOMORPH_COUNT_ACTIVATION(geglu_tanh)
#undef MONOMORPH_COUNT_ACTIVATION

inline void linear(Queue, View x, View w, View bias, View y) {
  count("products forward", costs::linear(x, w, bias, y));
}
inline void linear_add(Queue, View x, View w, View bias, View residual, View y) {
  count("products forward", costs::linear_add(x, w, bias, residual, y));
}
inline void linear_backward_input(Queue, View dy, View w, View dx, bool accumulate = false) {
  count("products for gradients of inputs", costs::linear_backward_input(dy, w, dx, accumulate));
}
inline void linear_backward_weight(Queue, View dy, View x, View dw, View dbias, bool accumulate) {
  count("products for gradients of weights", costs::linear_backward_weight(dy, x, dw, accumulate));
  count("sums for gradients of biases", costs::column_sums(dy, dbias, accumulate));
}

inline void require_scaled_products(Queue) {}
inline void round_to_fp8(View x, int copies) { count("rounding to fp8", costs::rounding(x, copies)); }
inline void round_inputs(View x, View w, const ScaledProduct& product) {
  if (!is_rounded(x)) round_to_fp8(x, 1);
  round_to_fp8(w, product.kept_w_KN.present() ? 2 : 1);
}
inline void scaled_linear(Queue, View x, View w, View bias, View y, const ScaledProduct& product) {
  round_inputs(x, w, product);
  count("products of fp8 forward", costs::scaled_linear(product.x_MK(), w, bias, y));
}
inline void scaled_linear_add(Queue, View x, View w, View bias, View residual, View y, const ScaledProduct& product) {
  round_inputs(x, w, product);
  count("products of fp8 forward", costs::scaled_linear_add(product.x_MK(), w, bias, residual, y));
}
inline void scaled_linear_backward_weight(Queue, View dy, View x, View dw, View dbias, bool accumulate,
                                          const ScaledProduct& product) {
  if (dy.present()) round_to_fp8(dy, dw.present() ? 2 : 1);
  if (dw.present() && !is_rounded(x)) round_to_fp8(x, 1);
  count("products of fp8 for gradients of weights",
        costs::scaled_linear_backward_weight(product.dy_MN(), product.x_MK(), dw, accumulate));
  count("sums for gradients of biases", costs::column_sums(dy, dbias, accumulate));
}
inline void scaled_linear_backward_input(Queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  if (!product.kept_w_KN.present()) round_to_fp8(w, 1);
  count("products of fp8 for gradients of inputs",
        costs::scaled_linear_backward_input(product.dy_MN(), w, dx, accumulate));
}
inline void scaled_normalize(Queue, const NormedInput& norm, View x_KM, const ScaledProduct&) {
  count("norms, rounded to fp8", costs::scaled_normalize(norm, x_KM));
}
inline void scaled_input_again(Queue, View x_KM, const ScaledProduct&) {
  count("rounding to fp8", costs::transposed(x_KM));
}
inline void scaled_activate(Queue, Activation, View h, View x_KM, const ScaledProduct&) {
  count("activations, rounded to fp8", costs::scaled_activate(h, x_KM));
}
inline void scaled_rotary_backward(Queue, View dy, std::int64_t, View cos, View sin, std::int64_t, Starts,
                                   bool for_weights, const ScaledProduct&) {
  count("rotary backward, rounded to fp8", costs::scaled_rotary_backward(dy, cos, sin, for_weights));
}
inline void scaled_activate_backward(Queue, Activation, View h, View dy, View dh, bool for_weights,
                                     const ScaledProduct&) {
  count("activations backward, rounded to fp8", costs::scaled_activate_backward(h, dy, dh, for_weights));
}

inline void linear_gelu_tanh(Queue, View x, View w, View bias, View h, View y) {
  count("products forward", costs::linear_activate(x, w, bias, h, y));
}
inline void linear_backward_input_gelu_tanh(Queue, View dout, View w, View h, View dh) {
  count("products for gradients of inputs", costs::linear_backward_input_activate(dout, w, h, dh));
}

inline void layer_norm(Queue, View x, View weight, View bias, double epsilon, View y, View mean, View rstd) {
  count("norms", costs::layer_norm(x, weight, bias, epsilon, y, mean, rstd));
}
inline void rms_norm(Queue, View x, View weight, View bias, double epsilon, View y, View rstd,
                     double = no_weight_offset) {
  count("norms", costs::rms_norm(x, weight, bias, epsilon, y, rstd));
}
inline void layer_norm_recompute(Queue, View x, View weight, View bias, View mean, View rstd, View y) {
  count("norms again", costs::layer_norm_recompute(x, weight, bias, mean, rstd, y));
}
inline void rms_norm_recompute(Queue, View x, View weight, View bias, View rstd, View y, double = no_weight_offset) {
  count("norms again", costs::rms_norm_recompute(x, weight, bias, rstd, y));
}
inline void layer_norm_backward(Queue, View dy, View x, View weight, View mean, View rstd, View dx, bool add,
                                View dweight, View dbias, bool accumulate) {
  count("norms backward", costs::layer_norm_backward(dy, x, weight, mean, rstd, dx, add, dweight, dbias, accumulate));
}
inline void rms_norm_backward(Queue, View dy, View x, View weight, View rstd, View dx, bool add, View dweight,
                              View dbias, bool accumulate, double = no_weight_offset) {
  count("norms backward", costs::rms_norm_backward(dy, x, weight, rstd, dx, add, dweight, dbias, accumulate));
}

inline void rotary(Queue, View x, View cos, View sin, std::int64_t, std::int64_t, bool, Starts = nullptr) {
  count("rotary", costs::rotary(x, cos, sin));
}
inline void qk_norm_rotary(Queue, NormKind, const QkNormRotary& of) {
  count("norms of heads, and rotary", costs::qk_norm_rotary(of));
}
/// By cuDNN, which writes and reads again 16 bits for each pair of a query and a key that it sees.
inline Cost deterministic_gradients(const AttentionShape& s, const AttentionMask& mask) {
  const device::AttentionExtent extent{s.batch, s.tokens, s.heads, s.kv_heads, s.head_dim};
  const double seen = static_cast<double>(mask.pairs(s.tokens)) / static_cast<double>(s.tokens * s.tokens);
  const double bytes = static_cast<double>(device::cudnn_gradient_bytes(extent)) * seen;
  return {bytes, bytes};
}
inline void tiled_attention(Queue, View q, View k, View v, View out, View lse, const AttentionShape& shape,
                            const AttentionMask& mask, Starts = nullptr) {
  count("attention", costs::attention(q, k, v, out, lse, shape, mask));
}
inline void tiled_attention_backward(Queue, View q, View k, View v, View out, View lse, View dout, View dq, View dk,
                                     View dv, const AttentionShape& shape, const AttentionMask& mask,
                                     Starts = nullptr) {
  Cost cost = costs::attention_backward(q, k, v, out, lse, dout, dq, dk, dv, shape, mask);
  if (shape.cap == 0) cost += deterministic_gradients(shape, mask);  // kernels of ours write nothing between
  count("attention backward", cost);
}
/// With dropout of probabilities, by kernels of ours.
inline void reference_attention(Queue queue, View q, View k, View v, View out, View lse, const AttentionShape& shape,
                                const AttentionMask& mask, const DropoutKey&, Starts starts = nullptr) {
  tiled_attention(queue, q, k, v, out, lse, shape, mask, starts);
}
inline void reference_attention_backward(Queue, View q, View k, View v, View out, View lse, View dout, View dq, View dk,
                                         View dv, const AttentionShape& shape, const AttentionMask& mask,
                                         const DropoutKey&, Starts = nullptr) {
  count("attention backward", costs::attention_backward(q, k, v, out, lse, dout, dq, dk, dv, shape, mask));
}

inline void embedding(Queue, Starts, View table, View positions, std::int64_t, std::int64_t, View x, Starts = nullptr,
                      double = 1) {
  count("embedding", costs::embedding(table, positions, x));
}
inline void embedding_backward(Queue, Starts, View dx, View dtable, bool accumulate, double = 1) {
  count("embedding backward", costs::embedding_backward(dx, dtable, accumulate));
}
inline void position_embedding_backward(Queue, View dx, std::int64_t, View dpositions, bool accumulate,
                                        Starts = nullptr) {
  count("embedding backward", costs::position_embedding_backward(dx, dpositions, accumulate));
}
inline void cross_entropy(Queue, const TokenLogits& logits, const LossTerms& = {}) {
  count("cross-entropy", costs::cross_entropy(logits));
}

inline void add_to_norm(Queue, View x, GradientNorm, PartialGradientNorm*) {
  count("norm of the gradients", costs::add_to_norm(x));
}
inline void momentum_mean(Queue, const ElementUpdate& run, const MomentumCoefficients&, const UpdateTerms&) {
  count("Muon, momentum", costs::momentum_mean(run));
}
inline void orthogonalize(Queue, View matrix, View workspace, double, std::int64_t iterations) {
  const std::string shape = std::to_string(matrix.shape.rows) + " x " + std::to_string(matrix.shape.cols);
  count("Muon, " + shape, costs::orthogonalize(matrix, workspace, iterations));
}
inline void step_along(Queue, const ElementUpdate& run, const DirectionCoefficients&, const UpdateTerms&) {
  count("Muon, step", costs::step_along(run));
}
inline void adamw(Queue, const ElementUpdate& run, const AdamWCoefficients&, const UpdateTerms&) {
  count("AdamW", costs::update(run));
}

static_assert(Kernels<Queue> && SaysItsKernels<Device>);

}  // namespace bench::counting
