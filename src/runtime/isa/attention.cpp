#include "attention_blocks.hpp"
#include "score_cap.hpp"

/// Keeps scores transposed, keys by queries, so that the softmax goes over rows of vectors.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

template <class T> struct ForwardWorkspace {
  alignas(64) T queries_HQ[tile_elements<T>];
  T keys[tile_elements<T>], values[tile_elements<T>], sums_QH[tile_elements<T>];
  T scores_KQ[block<T> * block<T>];
  T highest[block<T>], total[block<T>], rescale[block<T>];
  SeenKeys<T> seen;
};

/// Hides the keys [begin, end) of a block from those queries of a vector that don't see them, as their `limits` say.
template <class T, class Hidden>
void hide_keys(ForwardWorkspace<T>& workspace, Index first_query, Index first_key, Index begin, Index end,
               const T* limits, Hidden hidden) {
  const Lanes<T> limit = load(limits + first_query), nothing = broadcast(static_cast<T>(minus_infinity));
  for (Index key = begin; key < end; ++key) {
    T* scores = workspace.scores_KQ + key * block<T> + first_query;
    store(scores, hidden(broadcast(static_cast<T>(first_key + key)), limit) ? nothing : load(scores));
  }
}

/// Keys of a block that some query of a vector sees, with those that complete a group.
struct SeenByVector {
  Index first, end;
  bool first_by_all;  ///< if not, a query may have seen no key yet
};

/// What no query of the vector sees has no scores, and zeros where products read it; what only some of them see is
/// hidden from the others.
template <class T>
SeenByVector hide_unseen(ForwardWorkspace<T>& workspace, Index first_query, Index first_key, Index keys) {
  constexpr Index width = lane_count<T>;
  const SeenKeys<T>& seen = workspace.seen;
  const auto end_of_group = [&](Index query) { return smaller(round_up(seen.end_in_block[query], group_rows), keys); };
  const Index last_query = first_query + width - 1, last_of_groups = round_up(first_query + width, group_rows) - 1;
  const Index end = end_of_group(last_query), first = smaller(seen.first_in_block[first_query], end);
  const Index seen_by_all = smaller(seen.first_in_block[last_query], end);
  T* scores = workspace.scores_KQ + first_query;
  for (Index key = 0; key < first; ++key) store(scores + key * block<T>, Lanes<T>{});
  for (Index key = end; key < end_of_group(last_of_groups); ++key) store(scores + key * block<T>, Lanes<T>{});
  hide_keys(workspace, first_query, first_key, first, seen_by_all, seen.first,
            [](const Lanes<T>& key, const Lanes<T>& limit) { return key < limit; });
  hide_keys(workspace, first_query, first_key, smaller(seen.end_in_block[first_query], end), end, seen.end,
            [](const Lanes<T>& key, const Lanes<T>& limit) { return key >= limit; });
  return {first, end, seen_by_all == 0};
}

/// Scores become probabilities (not yet divided by their sum), for the queries of one vector.
template <class T>
void softmax_column(ForwardWorkspace<T>& workspace, Index first_query, Index first_key, Index keys, T scale) {
  const auto [first, end, first_by_all] = hide_unseen(workspace, first_query, first_key, keys);
  T* scores = workspace.scores_KQ + first_query;
  const Lanes<T> before = load(workspace.highest + first_query);
  Lanes<T> highest = before;
  for (Index key = first; key < end; ++key) {
    const Lanes<T> score = load(scores + key * block<T>);
    highest = score > highest ? score : highest;
  }
  Lanes<T> exponent = highest * scale;
  if (!first_by_all)  // a query may have seen nothing yet: 2^(-infinity - 0) is 0
    exponent = highest == broadcast(static_cast<T>(minus_infinity)) ? Lanes<T>{} : exponent;
  Lanes<T> total{};
  for (Index key = first; key < end; ++key) {
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
                  Index n_queries, Index n_keys, Index features, bool first, T scale, const ScoreCap<T>& cap) {
  constexpr Index width = lane_count<T>;
  SeenKeys<T>& seen = workspace.seen;
  seen.look_at(first_key);
  const Index columns = round_up(n_queries, width), padded = round_up(features, width);
  Index begin = 0, end = 0;  // of the queries that see one of the group's keys
  for (Index key = 0; key < n_keys; key += group_rows) {
    while (begin < columns && seen.end_in_block[begin + width - 1] <= key) begin += width;
    while (end < columns && seen.first_in_block[end] < key + group_rows) end += width;
    multiply<Into::empty>(Product<T>{keys.data + key * keys.stride, keys.stride, 1, workspace.queries_HQ + begin,
                                     block<T>, workspace.scores_KQ + key * block<T> + begin, block<T>, features},
                          (end - begin) / width);
    if (cap.given)
      for (Index row = key; row < key + group_rows; ++row)
        cap.apply(workspace.scores_KQ + row * block<T> + begin, end - begin);
  }
  for (Index query = 0; query < columns; query += width) softmax_column(workspace, query, first_key, n_keys, scale);
  for (Index query = 0; query < n_queries; query += group_rows) {
    const Index last = smaller(seen.end_in_block[query + group_rows - 1], n_keys);
    const Index skip = smaller(seen.first_in_block[query], last);
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
  const Index padded = round_up(shape.head_dim, lane_count<T>);
  transpose(read_tile(queries, workspace.keys), padded_rows<T>(queries.rows), padded, workspace.queries_HQ, block<T>);
  read_seen_keys(head, i, queries.rows, workspace.seen);
  const Index first_block = head.first_block(i), last_block = head.last_block(i);
  const ScoreCap<T> cap(shape);
  for (Index j = first_block; j <= last_block; ++j) {
    const Rows<S> keys = head.key_rows(call.k, j), values = head.key_rows(call.v, j);
    forward_pair<T>(workspace, read_tile(keys, workspace.keys), read_tile(values, workspace.values), j * block<T>,
                    queries.rows, round_up(keys.rows, group_rows), shape.head_dim, j == first_block,
                    static_cast<T>(cap.scale * log2_e), cap);
  }
  T* lse = head.lse(i);
  for (Index query = 0; query < queries.rows; ++query) {
    const T factor = 1 / workspace.total[query];
    for (Index h = 0; h < padded; ++h) workspace.sums_QH[query * padded + h] *= factor;
    lse[query] =
        workspace.highest[query] * static_cast<T>(cap.scale) + static_cast<T>(__builtin_log(workspace.total[query]));
  }
  write_tile(workspace.sums_QH, out);
}

}  // namespace

Index attention_block(DType dtype) { return dtype == DType::fp64 ? block<double> : block<float>; }

void attention_forward(const AttentionCall& call, Index sample, Index head, Index i) {
  in_element_type(call.q.dtype, [&]<class S>() { forward_block<S>(call, sample, head, i); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
