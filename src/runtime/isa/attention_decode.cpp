#include "attention.hpp"
#include "attention_storage.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

constexpr Index max_features = 256, chunk = 64;

template <class S> struct Cache {
  const S* keys;
  const S* values;
  Index key_stride, value_stride, tokens, features;
};

template <class T> struct RunningSoftmax {
  T highest = static_cast<T>(-__builtin_inf()), total = 0;
  alignas(register_bytes) T sums[max_features] = {};
  alignas(register_bytes) T p[chunk];
};

/// Takes in the tokens [first, first + n) of the cache.
template <class S, class T>
void add_tokens(RunningSoftmax<T>& state, const T* query, const Cache<S>& cache, Index first, Index n, T scale) {
  T highest = state.highest;
  for (Index token = 0; token < n; ++token) {
    state.p[token] = dot(query, cache.keys + (first + token) * cache.key_stride, cache.features) * scale;
    highest = state.p[token] > highest ? state.p[token] : highest;
  }
  const T rescale = static_cast<T>(__builtin_exp(state.highest - highest));
  state.highest = highest;
  state.total *= rescale;
  for (Index i = 0; i < cache.features; ++i) state.sums[i] *= rescale;
  for (Index token = 0; token < n; ++token) {
    const T p = static_cast<T>(__builtin_exp(state.p[token] - highest));
    state.total += p;
    const S* value = cache.values + (first + token) * cache.value_stride;
    for (Index i = 0; i < cache.features; ++i) state.sums[i] += p * widen(value[i]);
  }
}

template <class S> void decode_head(const AttentionCall& call, Index sample, Index kv_head) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Index features = shape.head_dim, group = shape.heads / shape.kv_heads;
  const Index row = sample * call.capacity, column = kv_head * features;
  const Cache<S> cache{reinterpret_cast<const S*>(call.k.data) + row * call.k.stride + column,
                       reinterpret_cast<const S*>(call.v.data) + row * call.v.stride + column,
                       call.k.stride,
                       call.v.stride,
                       shape.tokens,
                       features};
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const S* q = reinterpret_cast<const S*>(call.q.data) + sample * call.q.stride + head * features;
    S* out = reinterpret_cast<S*>(call.out.data) + sample * call.out.stride + head * features;
    T query[max_features];
    for (Index i = 0; i < features; ++i) query[i] = widen(q[i]);
    RunningSoftmax<T> state;
    for (Index first = 0; first < shape.tokens; first += chunk)
      add_tokens(state, query, cache, first, smaller(chunk, shape.tokens - first), static_cast<T>(shape.scale));
    for (Index i = 0; i < features; ++i) narrow(state.sums[i] / state.total, out[i]);
  }
}

}  // namespace

void attention_decode(const AttentionCall& call, Index sample, Index kv_head) {
  in_element_type(call.q.dtype, [&]<class S>() { decode_head<S>(call, sample, kv_head); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
