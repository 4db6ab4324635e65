#pragma once
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>
#include <monomorph/runtime/machine/device_use.hpp>
#include <monomorph/runtime/memory/allocator.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>
#include <monomorph/runtime/memory/transfers.hpp>
#include <type_traits>

/// What a device must have for every dense decoder to run on it, by the type of its queue: where a queue lacks
/// something, the compiler names the line below. What else single policies and blocks call (routing, pooling, other
/// optimisers) is in sets, of which a device says which it has (runtime/kernels/kernel_sets.hpp).
namespace monomorph {

template <class Queue> concept RunsInOrder = std::is_trivially_copyable_v<Queue> && requires(Queue queue) {
  synchronize(queue);
  side_by_side(queue, std::int64_t{}, [](std::int64_t) {});
};

template <class Queue> concept HasMemory = requires(Queue queue, View view, HostBuffer buffer) {
  { allocator(queue) } -> std::convertible_to<const Allocator&>;
  { host_allocator(queue) } -> std::convertible_to<const Allocator&>;
  { copy_to_host(queue, view, buffer) } -> std::same_as<View>;
  { place_on_host(queue, view, buffer) } -> std::same_as<View>;
  copy_from_host(queue, view, view);
  { device_use(queue) } -> std::same_as<DeviceUse>;
};

template <class Queue> concept CopiesBesideKernels = requires(Queue queue, TransfersOf<Queue>& transfers, View view) {
  { transfers.start(view, view) } -> std::same_as<std::uint64_t>;
  transfers.wait(std::uint64_t{});
  transfers.wait_for_all();
};

template <class Queue>
concept HasElementwiseKernels = requires(Queue queue, View v, DropoutKey key, random::Stream stream) {
  copy(queue, v, v);
  zero(queue, v);
  fill(queue, v, 0.0);
  fill_normal(queue, v, stream, std::uint64_t{}, 0.0, 0.0);
  fill_uniform(queue, v, stream, std::uint64_t{}, 0.0);
  scale(queue, v, 0.0, v);
  soft_cap(queue, v, 1.0, v), soft_cap_backward(queue, v, v, 1.0, v);
  dropout(queue, v, v, key);
  dropout_add(queue, v, v, v, key);
  gelu_exact(queue, v, v), gelu_exact_backward(queue, v, v, v);
  gelu_tanh(queue, v, v), gelu_tanh_backward(queue, v, v, v);
  relu_squared(queue, v, v), relu_squared_backward(queue, v, v, v);
  swiglu(queue, v, v), swiglu_backward(queue, v, v, v);
  geglu_exact(queue, v, v), geglu_exact_backward(queue, v, v, v);
  geglu_tanh(queue, v, v), geglu_tanh_backward(queue, v, v, v);
};

template <class Queue> concept HasProducts = requires(Queue queue, View v) {
  linear(queue, v, v, v, v);
  linear_add(queue, v, v, v, v, v);
  linear_backward_input(queue, v, v, v, false);
  linear_backward_weight(queue, v, v, v, v, false);
};

template <class Queue> concept HasNorms = requires(Queue queue, View v) {
  layer_norm(queue, v, v, v, 0.0, v, v, v), rms_norm(queue, v, v, v, 0.0, v, v, 1.0);
  layer_norm_recompute(queue, v, v, v, v, v, v), rms_norm_recompute(queue, v, v, v, v, v, 1.0);
  layer_norm_backward(queue, v, v, v, v, v, v, false, v, v, false);
  rms_norm_backward(queue, v, v, v, v, v, false, v, v, false, 1.0);
};

template <class Queue>
concept HasAttention = requires(Queue queue, View v, AttentionShape shape, AttentionMask mask, DropoutKey key,
                                RotarySpec spec, const std::int32_t* starts, PagedTokens tokens) {
  rotary_table(queue, spec, v, v);
  rotary(queue, v, v, v, std::int64_t{}, std::int64_t{}, false, starts);
  tiled_attention(queue, v, v, v, v, v, shape, mask, starts);
  tiled_attention_backward(queue, v, v, v, v, v, v, v, v, v, shape, mask, starts);
  reference_attention(queue, v, v, v, v, v, shape, mask, key, starts);
  reference_attention_backward(queue, v, v, v, v, v, v, v, v, v, shape, mask, key, starts);
  write_to_pages(queue, v, v, tokens);
  paged_attention(queue, v, v, v, v, shape, mask, tokens);
};

template <class Queue>
concept HasEndsOfDecoders = requires(Queue queue, View v, const std::int32_t* ids, TokenLogits logits) {
  embedding(queue, ids, v, v, std::int64_t{}, std::int64_t{}, v, ids, 1.0);
  embedding_backward(queue, ids, v, v, false, 1.0);
  position_embedding_backward(queue, v, std::int64_t{}, v, false, ids);
  cross_entropy(queue, logits, LossTerms{});
};

template <class Queue>
concept UpdatesParameters = requires(Queue queue, View v, ElementUpdate run, UpdateTerms terms,
                                     PartialGradientNorm* norm) {
  add_to_norm(queue, v, GradientNorm::two, norm);
  adamw(queue, run, AdamWCoefficients{}, terms);
};

template <class Queue>
concept KeepsScalars = requires(Queue queue, StepScalars* scalars, std::span<std::int64_t> counters) {
  begin_step(queue, scalars, counters);
  begin_micro_batch(queue, scalars);
  end_micro_batch(queue, scalars);
  keep_metrics(queue, scalars);
  write_step_words(queue, scalars, StepSettings{}, StepWords{});
  read_step_words(queue, scalars, StepWords{});
  decide_step(queue, scalars, StepSettings{}, false);
};

template <class Queue>
concept Kernels = RunsInOrder<Queue> && HasMemory<Queue> && CopiesBesideKernels<Queue> &&
    HasElementwiseKernels<Queue> && HasProducts<Queue> && HasNorms<Queue> && HasAttention<Queue> &&
    HasEndsOfDecoders<Queue> && UpdatesParameters<Queue> && KeepsScalars<Queue>;
static_assert(Kernels<cpu::Queue>);

}  // namespace monomorph
