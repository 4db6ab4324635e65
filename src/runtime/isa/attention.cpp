#include "attention_blocks.hpp"

/// Keeps scores transposed, keys by queries, so that the softmax goes over rows of vectors.
namespace monomorph::kernels::MONOMORPH_ISA {
namespace {

template <class T> struct ForwardWorkspace {
  alignas(64) T queries_HQ[tile_elements<T>];
  T keys[tile_elements<T>], values[tile_elements<T>], sums_QH[tile_elements<T>];
  T scores_KQ[block<T> * block<T>];
  T highest[block<T>], total[block<T>], rescale[block<T>];
  FirstKeys<T> first_keys;
};

/// Hides the keys [begin, end) of a block from those queries of a vector whose documents begin behind them.
template <class T>
void hide_other_documents(ForwardWorkspace<T>& workspace, Index first_query, Index first_key, Index begin, Index end) {
  const Lanes<T> own = load(workspace.first_keys.keys + first_query), hidden = all(static_cast<T>(minus_infinity));
  for (Index key = begin; key < end; ++key) {
    T* scores = workspace.scores_KQ + key * block<T> + first_query;
    store(scores, all(static_cast<T>(first_key + key)) < own ? hidden : load(scores));
  }
}

/// Scores become probabilities (not yet divided by their sum), for the queries of one vector.
template <class T>
void softmax_column(ForwardWorkspace<T>& workspace, Index first_query, Index first_key, Index keys, bool diagonal,
                    T scale) {
  constexpr Index width = lanes<T>;
  T* scores = workspace.scores_KQ + first_query;
  const Index unmasked = diagonal ? first_query : keys;
  const Index last = diagonal ? smaller(round_up(first_query + width, group_rows), keys) : keys;
  for (Index key = unmasked; key < last; ++key)
    for (Index i = 0; i < smaller(key - first_query, width); ++i)
      scores[key * block<T> + i] = static_cast<T>(minus_infinity);
  // Skips keys that no query of the vector sees, and masks keys that only some of them see.
  const Index first = smaller(workspace.first_keys.within(first_key, first_query), last);
  const Index seen_by_all = smaller(workspace.first_keys.within(first_key, first_query + width - 1), last);
  for (Index key = 0; key < first; ++key) store(scores + key * block<T>, Lanes<T>{});
  hide_other_documents(workspace, first_query, first_key, first, seen_by_all);
  const Lanes<T> before = load(workspace.highest + first_query);
  Lanes<T> highest = before;
  for (Index key = first; key < last; ++key) {
    const Lanes<T> score = load(scores + key * block<T>);
    highest = score > highest ? score : highest;
  }
  Lanes<T> exponent = highest * scale;
  if (seen_by_all > 0)  // a query that has seen nothing yet: 2^(-infinity - 0) is 0
    exponent = highest == all(static_cast<T>(minus_infinity)) ? Lanes<T>{} : exponent;
  Lanes<T> total{};
  for (Index key = first; key < last; ++key) {
    const Lanes<T> p = power_of_two(load(scores + key * block<T>) * scale - exponent);
    store(scores + key * block<T>, p);
    total += p;
  }
  const Lanes<T> rescale = power_of_two(before * scale - exponent);
  store(workspace.rescale + first_query, rescale);
  store(workspace.total + first_query, load(workspace.total + first_query) * rescale + total);
  store(workspace.highest + first_query, highest);
}

template <class T>
void forward_pair(ForwardWorkspace<T>& workspace, const Tile<T>& keys, const Tile<T>& values, Index first_key,
                  Index n_queries, Index n_keys, Index features, bool first, bool diagonal, T scale) {
  constexpr Index width = lanes<T>;
  const Index columns = round_up(n_queries, width), padded = round_up(features, width);
  Index end = 0;  // of the queries that see one of the group's keys
  for (Index key = 0; key < n_keys; key += group_rows) {
    while (end < columns && workspace.first_keys.within(first_key, end) < key + group_rows) end += width;
    const Index skip = diagonal ? key / width * width : 0;
    multiply<Into::empty>(Product<T>{keys.data + key * keys.stride, keys.stride, 1, workspace.queries_HQ + skip,
                                     block<T>, workspace.scores_KQ + key * block<T> + skip, block<T>, features},
                          (end - skip) / width);
  }
  for (Index query = 0; query < columns; query += width)
    softmax_column(workspace, query, first_key, n_keys, diagonal, scale);
  for (Index query = 0; query < n_queries; query += group_rows) {
    const Index last = diagonal ? query + group_rows : n_keys;
    const Index skip = smaller(workspace.first_keys.within(first_key, query), last);
    const Product<T> product{workspace.scores_KQ + skip * block<T> + query,
                             1,
                             block<T>,
                             values.data + skip * values.stride,
                             values.stride,
                             workspace.sums_QH + query * padded,
                             padded,
                             last - skip,
                             workspace.rescale + query};
    if (first)
      multiply<Into::empty>(product, padded / width);
    else
      multiply<Into::scale_and_add>(product, padded / width);
  }
}

template <class S> void forward_block(const AttentionCall& call, Index sample, Index head_index, Index i) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Head<S> head{call, sample, head_index, head_index / (shape.heads / shape.kv_heads)};
  const Rows<S> queries = head.query_rows(call.q, i), out = head.query_rows(call.out, i);
  ForwardWorkspace<T> workspace;
  for (Index query = 0; query < block<T>; ++query) {
    workspace.highest[query] = static_cast<T>(minus_infinity);
    workspace.total[query] = 0;
  }
  const Index padded = round_up(shape.head_dim, lanes<T>);
  transpose(read_tile(queries, workspace.keys), padded_rows<T>(queries.rows), padded, workspace.queries_HQ, block<T>);
  read_first_keys(head, i, queries.rows, workspace.first_keys);
  const Index first_block = head.first_block(i);
  for (Index j = first_block; j <= i; ++j) {
    const Rows<S> keys = head.key_rows(call.k, j), values = head.key_rows(call.v, j);
    forward_pair<T>(workspace, read_tile(keys, workspace.keys), read_tile(values, workspace.values), j * block<T>,
                    queries.rows, round_up(keys.rows, group_rows), shape.head_dim, j == first_block, j == i,
                    static_cast<T>(shape.scale * log2_e));
  }
  T* lse = head.lse(i);
  for (Index query = 0; query < queries.rows; ++query) {
    const T factor = 1 / workspace.total[query];
    for (Index h = 0; h < padded; ++h) workspace.sums_QH[query * padded + h] *= factor;
    lse[query] =
        workspace.highest[query] * static_cast<T>(shape.scale) + static_cast<T>(__builtin_log(workspace.total[query]));
  }
  write_tile(workspace.sums_QH, out);
}

}  // namespace

Index attention_block(DType dtype) { return dtype == DType::fp64 ? block<double> : block<float>; }

void attention_forward(const AttentionCall& call, Index sample, Index head, Index i) {
  if (call.q.dtype == DType::fp32)
    forward_block<float>(call, sample, head, i);
  else if (call.q.dtype == DType::bf16)
    forward_block<BFloat16>(call, sample, head, i);
  else if (call.q.dtype == DType::fp16)
    forward_block<Half>(call, sample, head, i);
  else
    forward_block<double>(call, sample, head, i);
}

}  // namespace monomorph::kernels::MONOMORPH_ISA
