#include "attention.hpp"
#include "attention_storage.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

constexpr Index max_features = 256, chunk = 64;

/// The keys and values of one head that a new token sees: places of its sequence, of which each is in some page.
template <class S> struct SeenKeys {
  const PagedTokens& tokens;
  Index token;
  const S* keys;
  const S* values;
  Index key_stride, value_stride, features;

  const S* key(Index place) const { return keys + tokens.row(token, place) * key_stride; }
  const S* value(Index place) const { return values + tokens.row(token, place) * value_stride; }
};

template <class T> struct RunningSoftmax {
  T highest = static_cast<T>(-__builtin_inf()), total = 0;
  alignas(register_bytes) T sums[max_features] = {};
  alignas(register_bytes) T p[chunk];
};

/// Takes in n places of the sequence, from `first` on.
template <class S, class T>
void add_places(RunningSoftmax<T>& state, const T* query, const SeenKeys<S>& seen, Index first, Index n, T scale) {
  T highest = state.highest;
  for (Index i = 0; i < n; ++i) {
    state.p[i] = dot(query, seen.key(first + i), seen.features) * scale;
    highest = state.p[i] > highest ? state.p[i] : highest;
  }
  const T rescale = static_cast<T>(__builtin_exp(state.highest - highest));
  state.highest = highest;
  state.total *= rescale;
  for (Index i = 0; i < seen.features; ++i) state.sums[i] *= rescale;
  for (Index i = 0; i < n; ++i) {
    const T p = static_cast<T>(__builtin_exp(state.p[i] - highest));
    state.total += p;
    const S* value = seen.value(first + i);
    for (Index j = 0; j < seen.features; ++j) state.sums[j] += p * widen(value[j]);
  }
}

template <class S> void attend(const PagedAttentionCall& call, Index token, Index kv_head) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Index features = shape.head_dim, group = shape.heads / shape.kv_heads, column = kv_head * features;
  const Index position = call.tokens.position(token);
  const KeyRange range = call.mask.keys(position, {0, position + 1});
  const SeenKeys<S> seen{call.tokens,
                         token,
                         call.k_cache.as<const S>() + column,
                         call.v_cache.as<const S>() + column,
                         call.k_cache.stride,
                         call.v_cache.stride,
                         features};
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const S* q = call.q.as<const S>() + token * call.q.stride + head * features;
    S* out = call.out.as<S>() + token * call.out.stride + head * features;
    T query[max_features];
    for (Index i = 0; i < features; ++i) query[i] = widen(q[i]);
    RunningSoftmax<T> state;
    for (Index first = range.first; first < range.end; first += chunk)
      add_places(state, query, seen, first, smaller(chunk, range.end - first), static_cast<T>(shape.scale));
    for (Index i = 0; i < features; ++i) narrow(state.sums[i] / state.total, out[i]);
  }
}

}  // namespace

void paged_attention(const PagedAttentionCall& call, Index token, Index kv_head) {
  in_element_type(call.q.dtype, [&]<class S>() { attend<S>(call, token, kv_head); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
