#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

#include <cmath>
#include <stdexcept>

/// A block computes one head of one new token: its warps take turns with the places of its sequence, and what they
/// found is put together in their order.
namespace monomorph::cuda {
namespace {

constexpr int warp = 32, warps = 8, most_features = 256, lane_features = most_features / warp;
/// For which a multiprocessor must have the registers; 0 is for nvcc to say. It would make room for more where scores
/// have a cap, and keep numbers in memory.
template <bool capped> constexpr int blocks = capped ? 2 : 0;
/// Places that a warp takes at once, so that several are on their way from memory.
template <class T> constexpr int at_once = sizeof(T) == 4 ? 4 : 2;

/// With its arrays on the GPU.
PagedTokens tokens_on_device(Queue queue, PagedTokens tokens) {
  tokens.origins_B = on_device(queue, tokens.origins_B, tokens.tokens);
  tokens.sequences_B = on_device(queue, tokens.sequences_B, tokens.tokens);
  tokens.pages_SP = on_device(queue, tokens.pages_SP, tokens.sequences * tokens.pages_per_sequence);
  return tokens;
}

template <class S> struct PagedArguments {
  const S *q, *k, *v;
  S* out;
  std::int64_t q_stride, k_stride, v_stride, out_stride;
  int heads, kv_heads, features;
  Compute<S> scale;
  AttentionMask mask;
  PagedTokens tokens;
  SoftCap<Compute<S>> cap;  ///< of kernels for capped scores
};

/// The keys and values of one head, from the first place of a new token's sequence that it sees.
template <class S> struct SeenKeys {
  const PagedArguments<S>& call;
  const S *keys, *values;
  int token;
  std::int64_t first;
  int places;

  __device__ std::int64_t row(int place) const { return call.tokens.row(token, first + place); }
};

/// Softmax over some places; sums of a lane's features.
template <class T> struct SoftmaxPart {
  T highest = -static_cast<T>(INFINITY), total = 0, sums[lane_features] = {};
};
template <class T> struct PagedMemory { T highest[warps], total[warps], sums[warps][most_features]; };

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

/// Places from `first` on, `warps` apart.
template <bool capped, class S, class T = Compute<S>>
__device__ void take_places(const SeenKeys<S>& seen, int first, int lane, const T (&query)[lane_features],
                            SoftmaxPart<T>& part) {
  const PagedArguments<S>& call = seen.call;
  T scores[at_once<T>], highest = part.highest;
  std::int64_t rows[at_once<T>];
  MONOMORPH_UNROLL
  for (int i = 0; i < at_once<T>; ++i) {
    const int place = first + i * warps;
    const bool is_there = place < seen.places;
    rows[i] = is_there ? seen.row(place) : 0;
    T key[lane_features], sum = 0;
    read_features(seen.keys + rows[i] * call.k_stride, is_there ? call.features : 0, lane, key);
    MONOMORPH_UNROLL
    for (int j = 0; j < lane_features; ++j) sum += query[j] * key[j];
    sum = over_warp(sum) * call.scale;
    scores[i] = is_there || capped ? sum : -static_cast<T>(INFINITY);
    if constexpr (!capped) highest = scores[i] > highest ? scores[i] : highest;
  }
  if constexpr (capped) {
    MONOMORPH_UNROLL
    for (int i = 0; i < at_once<T>; ++i) {
      scores[i] = first + i * warps < seen.places ? call.cap(scores[i]) : -static_cast<T>(INFINITY);
      highest = scores[i] > highest ? scores[i] : highest;
    }
  }
  const T shrink = std::exp(part.highest - highest);
  part.highest = highest;
  part.total *= shrink;
  MONOMORPH_UNROLL
  for (int j = 0; j < lane_features; ++j) part.sums[j] *= shrink;
  MONOMORPH_UNROLL
  for (int i = 0; i < at_once<T>; ++i) {
    const T p = std::exp(scores[i] - highest);
    T value[lane_features];
    read_features(seen.values + rows[i] * call.v_stride, first + i * warps < seen.places ? call.features : 0, lane,
                  value);
    part.total += p;
    MONOMORPH_UNROLL
    for (int j = 0; j < lane_features; ++j) part.sums[j] += p * value[j];
  }
}

template <class T>
__device__ void write_part(PagedMemory<T>& memory, int of_warp, int lane, const SoftmaxPart<T>& part) {
  MONOMORPH_UNROLL
  for (int i = 0; i < lane_features; ++i) memory.sums[of_warp][lane + i * warp] = part.sums[i];
  if (lane != 0) return;
  memory.highest[of_warp] = part.highest;
  memory.total[of_warp] = part.total;
}

/// One feature of the softmax over what all warps have seen.
template <class T> __device__ T combined(const PagedMemory<T>& memory, int feature) {
  T highest = memory.highest[0], total = 0, sum = 0;
  for (int w = 1; w < warps; ++w) highest = memory.highest[w] > highest ? memory.highest[w] : highest;
  for (int w = 0; w < warps; ++w) {
    const T shrink = std::exp(memory.highest[w] - highest);  // 0 of a warp that saw no place
    total += memory.total[w] * shrink;
    sum += memory.sums[w][feature] * shrink;
  }
  return sum / total;
}

template <class S, bool capped>
__global__ void __launch_bounds__(warps* warp, blocks<capped>) attend(const __grid_constant__ PagedArguments<S> call) {
  using T = Compute<S>;
  auto& memory = block_memory<PagedMemory<T>>();
  const int token = static_cast<int>(blockIdx.x) / call.heads, head = static_cast<int>(blockIdx.x) % call.heads;
  const int of_warp = static_cast<int>(threadIdx.x) / warp, lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t column = std::int64_t{head / (call.heads / call.kv_heads)} * call.features;
  const std::int64_t position = call.tokens.position(token);
  const KeyRange range = call.mask.keys(position, {0, position + 1});
  const SeenKeys<S> seen{call,  call.k + column, call.v + column,
                         token, range.first,     static_cast<int>(range.end - range.first)};
  T query[lane_features];
  read_features(call.q + token * call.q_stride + std::int64_t{head} * call.features, call.features, lane, query);
  SoftmaxPart<T> part;
  for (int first = of_warp; first < seen.places; first += warps * at_once<T>)
    take_places<capped>(seen, first, lane, query, part);
  write_part(memory, of_warp, lane, part);
  __syncthreads();
  const int feature = static_cast<int>(threadIdx.x);
  S* out = call.out + token * call.out_stride + std::int64_t{head} * call.features;
  if (feature < call.features) narrow(combined(memory, feature), out[feature]);
}

template <class S>
__global__ void __launch_bounds__(map_threads)
    write_rows(PagedTokens tokens, int columns, Rows<const S> x, Rows<S> cache) {
  const int token = static_cast<int>(blockIdx.x);
  S* const to = cache.data + tokens.row(token, tokens.position(token)) * cache.stride;
  for (int column = static_cast<int>(threadIdx.x); column < columns; column += static_cast<int>(blockDim.x))
    to[column] = x.data[token * x.stride + column];
}

}  // namespace

void write_to_pages(Queue queue, View x, View cache, const PagedTokens& tokens) {
  const KernelSpan span(Work::attention, "write_to_pages", queue.stream);
  if (!x.present()) return;
  in_element_type(x.dtype, [&]<class S>() {
    launch(write_rows<S>, {static_cast<unsigned>(tokens.tokens), map_threads}, queue, tokens_on_device(queue, tokens),
           static_cast<int>(x.shape.cols), Rows<const S>{x.as<const S>(), x.stride},
           Rows<S>{cache.as<S>(), cache.stride});
  });
}

void paged_attention(Queue queue, View q, View k_cache, View v_cache, View out, const AttentionShape& shape,
                     const AttentionMask& mask, const PagedTokens& tokens) {
  const KernelSpan span(Work::attention, "paged_attention", queue.stream);
  if (!q.present()) return;
  if (shape.head_dim > most_features) throw std::logic_error("attention takes heads of up to 256 features");
  in_element_type(q.dtype, [&]<class S>() {
    const PagedArguments<S> arguments{q.as<const S>(),
                                      k_cache.as<const S>(),
                                      v_cache.as<const S>(),
                                      out.as<S>(),
                                      q.stride,
                                      k_cache.stride,
                                      v_cache.stride,
                                      out.stride,
                                      static_cast<int>(shape.heads),
                                      static_cast<int>(shape.kv_heads),
                                      static_cast<int>(shape.head_dim),
                                      static_cast<Compute<S>>(shape.scale),
                                      mask,
                                      tokens_on_device(queue, tokens),
                                      SoftCap<Compute<S>>(shape.cap)};
    const auto kernel = shape.cap > 0 ? attend<S, true> : attend<S, false>;
    launch(kernel, {static_cast<unsigned>(shape.tokens * shape.heads), warps * warp}, queue, arguments);
  });
}

}  // namespace monomorph::cuda
