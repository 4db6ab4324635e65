#include "attention.hpp"
#include "attention_blocks.hpp"
#include "score_cap.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

constexpr Index chunk = 64;  ///< places

/// The keys and values of one head that a new token sees: places of its sequence, of which each is in some page.
template <class S> struct SeenPlaces {
  const PagedTokens& tokens;
  Index token;
  const S* keys;
  const S* values;
  Index key_stride, value_stride, features;

  const S* key(Index place) const { return keys + tokens.row(token, place) * key_stride; }
  const S* value(Index place) const { return values + tokens.row(token, place) * value_stride; }
};

template <class T> struct RunningSoftmax {
  T highest = static_cast<T>(minus_infinity);
  Lanes<T> total{};
  alignas(register_bytes) T sums[max_features] = {};
  alignas(register_bytes) T p[chunk];
};

/// Scores of n places from `first` on, each with bits that do not depend on n.
template <int n, class S, class T>
void score_places(const T* query, const SeenPlaces<S>& seen, Index first, T scale, T* scores) {
  const S* keys[n];
  for (int place = 0; place < n; ++place) keys[place] = seen.key(first + place);
  Lanes<T> lanes[n] = {};
  Index i = 0;
  for (; i + lane_count<T> <= seen.features; i += lane_count<T>)
    for (int place = 0; place < n; ++place) lanes[place] += load(query + i) * load_widened(keys[place] + i);
  T sums[n];
  sum_lanes<T>(lanes, sums);
  for (int place = 0; place < n; ++place) {
    for (Index j = i; j < seen.features; ++j) sums[place] += query[j] * widen(keys[place][j]);
    scores[place] = sums[place] * scale;
  }
}

/// sums = sums · rescale + the values of n places from `first` on, each times its p; of some vectors of features.
template <int vectors, class S, class T>
void add_values(T* sums, T rescale, const T* p, const SeenPlaces<S>& seen, Index first, Index n, Index feature) {
  Lanes<T> lanes[vectors];
  for (int i = 0; i < vectors; ++i) lanes[i] = load(sums + feature + i * lane_count<T>) * rescale;
  for (Index place = 0; place < n; ++place) {
    const S* value = seen.value(first + place) + feature;
    for (int i = 0; i < vectors; ++i) lanes[i] += p[place] * load_widened(value + i * lane_count<T>);
  }
  for (int i = 0; i < vectors; ++i) store(sums + feature + i * lane_count<T>, lanes[i]);
}

/// Takes in n places of the sequence, from `first` on. Scores are in units of log(2).
template <class S, class T>
void add_places(RunningSoftmax<T>& state, const T* query, const SeenPlaces<S>& seen, Index first, Index n, T scale,
                const ScoreCap<T>& cap) {
  constexpr Index together = 4, width = lane_count<T>;
  Index place = 0;
  for (; place + together <= n; place += together)
    score_places<together>(query, seen, first + place, scale, state.p + place);
  for (; place < n; ++place) score_places<1>(query, seen, first + place, scale, state.p + place);
  if (cap.given) {
    for (Index i = n; i % width != 0; ++i) state.p[i] = 0;
    cap.apply(state.p, round_up(n, width));
  }
  T highest = state.highest;
  for (Index i = 0; i < n; ++i) highest = state.p[i] > highest ? state.p[i] : highest;
  for (Index i = n; i % width != 0; ++i) state.p[i] = static_cast<T>(minus_infinity);
  const T rescale = power_of_two(broadcast(state.highest - highest))[0];
  state.highest = highest;
  state.total *= rescale;
  for (Index i = 0; i < n; i += width) {
    const Lanes<T> p = power_of_two(load(state.p + i) - highest);
    state.total += p;
    store(state.p + i, p);
  }
  Index feature = 0;
  for (; feature + 4 * width <= seen.features; feature += 4 * width)
    add_values<4>(state.sums, rescale, state.p, seen, first, n, feature);
  for (; feature + width <= seen.features; feature += width)
    add_values<1>(state.sums, rescale, state.p, seen, first, n, feature);
  for (; feature < seen.features; ++feature) {
    T sum = state.sums[feature] * rescale;
    for (Index i = 0; i < n; ++i) sum += state.p[i] * widen(seen.value(first + i)[feature]);
    state.sums[feature] = sum;
  }
}

template <class S> void attend(const PagedAttentionCall& call, Index token, Index kv_head) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Index features = shape.head_dim, group = shape.heads / shape.kv_heads, column = kv_head * features;
  const Index position = call.tokens.position(token);
  const KeyRange range = call.mask.keys(position, {0, position + 1});
  const SeenPlaces<S> seen{call.tokens,
                           token,
                           call.k_cache.as<const S>() + column,
                           call.v_cache.as<const S>() + column,
                           call.k_cache.stride,
                           call.v_cache.stride,
                           features};
  const ScoreCap<T> cap(shape, log2_e);
  const T scale = static_cast<T>(cap.given ? 1 : shape.scale * log2_e);
  for (Index head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const S* q = call.q.as<const S>() + token * call.q.stride + head * features;
    S* out = call.out.as<S>() + token * call.out.stride + head * features;
    T query[max_features];
    for (Index i = 0; i < features; ++i) query[i] = widen(q[i]);
    RunningSoftmax<T> state;
    for (Index first = range.first; first < range.end; first += chunk)
      add_places(state, query, seen, first, smaller(chunk, range.end - first), scale, cap);
    const T total = sum_of<T>(state.total);
    for (Index i = 0; i < features; ++i) narrow(state.sums[i] / total, out[i]);
  }
}

}  // namespace

void paged_attention(const PagedAttentionCall& call, Index token, Index kv_head) {
  in_element_type(call.q.dtype, [&]<class S>() { attend<S>(call, token, kv_head); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
