#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <cmath>
#include <stdexcept>

/// A block computes one head of one new token: its warps take turns with the tokens of the cache, and what they found
/// is put together in their order.
namespace monomorph::cuda {
namespace {

constexpr int warp = 32, warps = 8, most_features = 256, lane_features = most_features / warp;
/// Tokens that a warp takes at once, so that several are on their way from memory.
template <class T> constexpr int at_once = sizeof(T) == 4 ? 4 : 2;

template <class S> struct DecodeArguments {
  const S *q, *k, *v;  ///< k and v: of the first token that the new one sees
  S* out;
  std::int64_t q_stride, k_stride, v_stride, out_stride, capacity;
  int tokens, heads, kv_heads, features;
  Compute<S> scale;
};

/// Softmax over some tokens; sums of a lane's features.
template <class T> struct SoftmaxPart {
  T highest = -static_cast<T>(INFINITY), total = 0, sums[lane_features] = {};
};
template <class T> struct DecodeMemory { T highest[warps], total[warps], sums[warps][most_features]; };

/// Element i of a lane is feature lane + 32 i; those that a head has not are 0.
template <class S>
__device__ void read_features(const S* from, int features, int lane, Compute<S> (&to)[lane_features]) {
  MONOMORPH_UNROLL
  for (int i = 0; i < lane_features; ++i) {
    const int feature = lane + i * warp;
    to[i] = feature < features ? widen(from[feature]) : Compute<S>{0};
  }
}

template <class T> __device__ T over_warp(T sum) {
  MONOMORPH_UNROLL
  for (int distance = warp / 2; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xFFFFFFFFu, sum, distance);
  return sum;
}

/// Tokens from `first` on, `warps` apart.
template <class S, class T = Compute<S>>
__device__ void take_tokens(const DecodeArguments<S>& call, const S* keys, const S* values, int first, int lane,
                            const T (&query)[lane_features], SoftmaxPart<T>& part) {
  T scores[at_once<T>], highest = part.highest;
  MONOMORPH_UNROLL
  for (int i = 0; i < at_once<T>; ++i) {
    const int token = first + i * warps;
    T key[lane_features], sum = 0;
    read_features(keys + token * call.k_stride, token < call.tokens ? call.features : 0, lane, key);
    MONOMORPH_UNROLL
    for (int j = 0; j < lane_features; ++j) sum += query[j] * key[j];
    sum = over_warp(sum) * call.scale;
    scores[i] = token < call.tokens ? sum : -static_cast<T>(INFINITY);
    highest = scores[i] > highest ? scores[i] : highest;
  }
  const T shrink = std::exp(part.highest - highest);
  part.highest = highest;
  part.total *= shrink;
  MONOMORPH_UNROLL
  for (int j = 0; j < lane_features; ++j) part.sums[j] *= shrink;
  MONOMORPH_UNROLL
  for (int i = 0; i < at_once<T>; ++i) {
    const int token = first + i * warps;
    const T p = std::exp(scores[i] - highest);
    T value[lane_features];
    read_features(values + token * call.v_stride, token < call.tokens ? call.features : 0, lane, value);
    part.total += p;
    MONOMORPH_UNROLL
    for (int j = 0; j < lane_features; ++j) part.sums[j] += p * value[j];
  }
}

template <class T>
__device__ void write_part(DecodeMemory<T>& memory, int of_warp, int lane, const SoftmaxPart<T>& part) {
  MONOMORPH_UNROLL
  for (int i = 0; i < lane_features; ++i) memory.sums[of_warp][lane + i * warp] = part.sums[i];
  if (lane != 0) return;
  memory.highest[of_warp] = part.highest;
  memory.total[of_warp] = part.total;
}

/// One feature of the softmax over what all warps have seen.
template <class T> __device__ T combined(const DecodeMemory<T>& memory, int feature) {
  T highest = memory.highest[0], total = 0, sum = 0;
  for (int w = 1; w < warps; ++w) highest = memory.highest[w] > highest ? memory.highest[w] : highest;
  for (int w = 0; w < warps; ++w) {
    const T shrink = std::exp(memory.highest[w] - highest);  // 0 of a warp that saw no token
    total += memory.total[w] * shrink;
    sum += memory.sums[w][feature] * shrink;
  }
  return sum / total;
}

template <class S>
__global__ void __launch_bounds__(warps* warp) decode(const __grid_constant__ DecodeArguments<S> call) {
  using T = Compute<S>;
  auto& memory = block_memory<DecodeMemory<T>>();
  const int sample = static_cast<int>(blockIdx.x) / call.heads, head = static_cast<int>(blockIdx.x) % call.heads;
  const int of_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t column = std::int64_t{head / (call.heads / call.kv_heads)} * call.features;
  const S* keys = call.k + sample * call.capacity * call.k_stride + column;
  const S* values = call.v + sample * call.capacity * call.v_stride + column;
  T query[lane_features];
  read_features(call.q + sample * call.q_stride + std::int64_t{head} * call.features, call.features, lane, query);
  SoftmaxPart<T> part;
  for (int token = of_warp; token < call.tokens; token += warps * at_once<T>)
    take_tokens(call, keys, values, token, lane, query, part);
  write_part(memory, of_warp, lane, part);
  __syncthreads();
  const int feature = static_cast<int>(threadIdx.x);
  S* out = call.out + sample * call.out_stride + std::int64_t{head} * call.features;
  if (feature < call.features) narrow(combined(memory, feature), out[feature]);
}

}  // namespace

void decode_attention(Queue queue, View q, View k_cache, View v_cache, View out, std::int64_t capacity,
                      const AttentionShape& shape, const AttentionMask& mask) {
  if (!q.present()) return;
  if (shape.head_dim > most_features) throw std::logic_error("attention takes heads of up to 256 features");
  const KeyRange seen = mask.keys(shape.tokens - 1, {0, shape.tokens});
  in_element_type(q.dtype, [&]<class S>() {
    const DecodeArguments<S> arguments{q.as<const S>(),
                                       k_cache.as<const S>() + seen.first * k_cache.stride,
                                       v_cache.as<const S>() + seen.first * v_cache.stride,
                                       out.as<S>(),
                                       q.stride,
                                       k_cache.stride,
                                       v_cache.stride,
                                       out.stride,
                                       capacity,
                                       static_cast<int>(seen.end - seen.first),
                                       static_cast<int>(shape.heads),
                                       static_cast<int>(shape.kv_heads),
                                       static_cast<int>(shape.head_dim),
                                       static_cast<Compute<S>>(shape.scale)};
    launch(decode<S>, {static_cast<unsigned>(shape.batch * shape.heads), warps * warp}, queue, arguments);
  });
}

}  // namespace monomorph::cuda
