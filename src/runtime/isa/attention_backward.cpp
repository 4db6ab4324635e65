#include "attention_blocks.hpp"
#include "score_cap.hpp"

/// Keeps scores as queries by keys, so that the keys are transposed once for all queries.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

template <class T> struct BackwardWorkspace {
  alignas(64) T keys_HK[tile_elements<T>];
  T values_HK[tile_elements<T>], keys[tile_elements<T>], queries[tile_elements<T>], douts[tile_elements<T>];
  T dkeys[tile_elements<T>], dvalues[tile_elements<T>], dqueries[tile_elements<T>];
  T p_QK[block<T> * block<T>], ds_QK[block<T> * block<T>];
  T delta[block<T>], lse[block<T>];
  SeenKeys<T> seen;
};

/// A block of queries and a block of keys; rows with their padding.
struct Pair {
  Index first_key, n_queries, n_keys;
};

/// Behind the keys that products read of a group of queries: the groups of keys of which one of the queries sees one.
template <class T> Index end_of_keys(const SeenKeys<T>& seen, const Pair& pair, Index group) {
  return smaller(round_up(seen.end_in_block[group + group_rows - 1], group_rows), pair.n_keys);
}

/// delta of a query is the product of its output with that output's gradient.
template <class S> void prepare_rows(BackwardWorkspace<Compute<S>>& workspace, const Head<S>& head, Index i) {
  using T = Compute<S>;
  const Rows<S> out = head.query_rows(head.call.out, i), dout = head.query_rows(head.call.dout, i);
  const T* lse = head.lse(i);
  read_seen_keys(head, i, out.rows, workspace.seen);
  for (Index query = 0; query < round_up(out.rows, group_rows); ++query) {
    Lanes<T> sums{};
    T rest = 0;
    if (query < out.rows) {
      const S* a = out.data + query * out.stride;
      const S* b = dout.data + query * dout.stride;
      Index h = 0;
      if constexpr (computed_as_stored<S>)
        for (; h + lane_count<T> <= out.cols; h += lane_count<T>) sums += load(a + h) * load(b + h);
      for (; h < out.cols; ++h) rest += widen(a[h]) * widen(b[h]);
    }
    workspace.delta[query] = rest + sum_of<T>(sums);
    workspace.lse[query] = query < out.rows ? lse[query] * static_cast<T>(log2_e) : 0;
  }
}

/// Probabilities from scores (in p) and the scores' gradient from that of the probabilities (in ds). Zero where a
/// product reads of a query what it does not see.
template <bool capped, class T>
void softmax_rows(BackwardWorkspace<T>& workspace, const Pair& pair, const AttentionShape& shape) {
  constexpr Index width = lane_count<T>;
  const ScoreCap<T> cap(shape);
  const T exponent_scale = static_cast<T>(cap.scale * log2_e), gradient_scale = static_cast<T>(shape.scale);
  const SoftCapGradient<T> uncapped(capped ? shape.cap : 1);
  for (Index query = 0; query < pair.n_queries; ++query) {
    T* p_row = workspace.p_QK + query * block<T>;
    T* ds_row = workspace.ds_QK + query * block<T>;
    const T lse = workspace.lse[query], delta = workspace.delta[query];
    const Index group = query / group_rows * group_rows;
    const Index end = round_up(end_of_keys(workspace.seen, pair, group), width);
    const Index first = workspace.seen.first_in_block[query];
    const Index first_of_group = workspace.seen.first_in_block[group];
    if constexpr (capped) cap.apply(p_row + first / width * width, end - first / width * width);
    for (Index key = first / width * width; key < end; key += width) {
      const Lanes<T> score = load(p_row + key), p = power_of_two(score * exponent_scale - lse);
      store(p_row + key, p);
      const Lanes<T> ds = p * (load(ds_row + key) - delta) * gradient_scale;
      if constexpr (capped)
        store(ds_row + key, uncapped(score, ds));
      else
        store(ds_row + key, ds);
    }
    for (Index key = first_of_group / group_rows * group_rows; key < first; ++key) p_row[key] = ds_row[key] = 0;
    for (Index key = workspace.seen.end_in_block[query]; key < end; ++key) p_row[key] = ds_row[key] = 0;
  }
}

/// p and ds of a block of queries and a block of keys.
template <class T>
void probabilities(BackwardWorkspace<T>& workspace, const Tile<T>& queries, const Tile<T>& douts, const Pair& pair,
                   const AttentionShape& shape) {
  constexpr Index width = lane_count<T>;
  workspace.seen.look_at(pair.first_key);
  for (Index query = 0; query < pair.n_queries; query += group_rows) {
    const Index skip = workspace.seen.first_in_block[query] / width * width;
    const Index end = round_up(end_of_keys(workspace.seen, pair, query), width);
    multiply<Into::empty>(Product<T>{queries.data + query * queries.stride, queries.stride, 1, workspace.keys_HK + skip,
                                     block<T>, workspace.p_QK + query * block<T> + skip, block<T>, shape.head_dim},
                          (end - skip) / width);
    multiply<Into::empty>(Product<T>{douts.data + query * douts.stride, douts.stride, 1, workspace.values_HK + skip,
                                     block<T>, workspace.ds_QK + query * block<T> + skip, block<T>, shape.head_dim},
                          (end - skip) / width);
  }
  (shape.cap > 0 ? softmax_rows<true, T> : softmax_rows<false, T>)(workspace, pair, shape);
}

/// dkeys += dsᵀ queries and dvalues += pᵀ douts.
template <class T>
void add_to_keys(BackwardWorkspace<T>& workspace, const Tile<T>& queries, const Tile<T>& douts, const Pair& pair,
                 Index padded, bool first) {
  Index begin = 0, end = 0;  // of the queries that see one of the group's keys
  for (Index key = 0; key < pair.n_keys; key += group_rows) {
    while (begin < pair.n_queries && workspace.seen.end_in_block[begin] <= key) ++begin;
    while (end < pair.n_queries && workspace.seen.first_in_block[end] < key + group_rows) ++end;
    Product<T> product{
        workspace.p_QK + begin * block<T> + key, 1,      block<T>,   douts.data + begin * douts.stride, douts.stride,
        workspace.dvalues + key * padded,        padded, end - begin};
    if (first)
      multiply<Into::empty>(product, padded / lane_count<T>);
    else
      multiply<Into::add>(product, padded / lane_count<T>);
    product.a = workspace.ds_QK + begin * block<T> + key;
    product.b = queries.data + begin * queries.stride;
    product.b_row = queries.stride;
    product.c = workspace.dkeys + key * padded;
    if (first)
      multiply<Into::empty>(product, padded / lane_count<T>);
    else
      multiply<Into::add>(product, padded / lane_count<T>);
  }
}

/// dqueries += ds keys, or = with `first`.
template <class T>
void add_to_queries(BackwardWorkspace<T>& workspace, const Tile<T>& keys, T* dqueries, Index dqueries_row,
                    const Pair& pair, Index padded, bool first) {
  for (Index query = 0; query < pair.n_queries; query += group_rows) {
    const Index end = end_of_keys(workspace.seen, pair, query);
    const Index skip = smaller(workspace.seen.first_in_block[query], end);
    const Product<T> product{
        workspace.ds_QK + query * block<T> + skip, block<T>,     1,         keys.data + skip * keys.stride, keys.stride,
        dqueries + query * dqueries_row,           dqueries_row, end - skip};
    if (first)
      multiply<Into::empty>(product, padded / lane_count<T>);
    else
      multiply<Into::add>(product, padded / lane_count<T>);
  }
}

/// Adds a pair of blocks to dq, where it lies.
template <class T>
void add_to_dq(BackwardWorkspace<T>& workspace, const Tile<T>& keys, const Rows<T>& dq, const Pair& pair, bool first) {
  const Index padded = round_up(dq.cols, lane_count<T>);
  if (usable_in_place(dq)) {
    add_to_queries(workspace, keys, dq.data, dq.stride, pair, padded, first);
    return;
  }
  if (!first) copy_tile(dq, workspace.dqueries);
  add_to_queries(workspace, keys, workspace.dqueries, padded, pair, padded, first);
  write_tile(workspace.dqueries, dq);
}

/// dk and dv of a block of keys; with dq, what these keys add to dq.
template <class S, bool with_queries>
void backward_of_keys(BackwardWorkspace<Compute<S>>& workspace, const AttentionCall& call, Index sample, Index kv_head,
                      Index j) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Index group = shape.heads / shape.kv_heads;
  const Index padded = round_up(shape.head_dim, lane_count<T>);
  Head<S> head{call, sample, kv_head * group, kv_head};
  const Rows<S> keys = head.key_rows(call.k, j), values = head.key_rows(call.v, j);
  const Index n_keys = round_up(keys.rows, group_rows);
  const Tile<T> keys_KH = read_tile(keys, workspace.keys);
  transpose(keys_KH, padded_rows<T>(keys.rows), padded, workspace.keys_HK, block<T>);
  transpose(read_tile(values, workspace.queries), padded_rows<T>(keys.rows), padded, workspace.values_HK, block<T>);
  Index first_i = j;  // of the blocks of queries that see one of the keys
  while (first_i > 0 && head.last_block(first_i - 1) >= j) --first_i;
  for (Index member = 0; member < group; ++member, ++head.head)
    for (Index i = first_i; i < head.blocks() && head.first_block(i) <= j; ++i) {
      const bool first = member == 0 && i == first_i;
      const Rows<S> query_rows = head.query_rows(call.q, i);
      const Pair pair{j * block<T>, round_up(query_rows.rows, group_rows), n_keys};
      const Tile<T> queries = read_tile(query_rows, workspace.queries);
      const Tile<T> douts = read_tile(head.query_rows(call.dout, i), workspace.douts);
      prepare_rows(workspace, head, i);
      probabilities(workspace, queries, douts, pair, shape);
      add_to_keys(workspace, queries, douts, pair, padded, first);
      if constexpr (with_queries)
        add_to_dq(workspace, keys_KH, head.query_rows(call.dq, i), pair, j == head.first_block(i));
    }
  write_tile(workspace.dkeys, head.key_rows(call.dk, j));
  write_tile(workspace.dvalues, head.key_rows(call.dv, j));
}

template <class S> void backward_head(const AttentionCall& call, Index sample, Index kv_head) {
  BackwardWorkspace<Compute<S>> workspace;
  const Index blocks = Head<S>{call, sample, 0, kv_head}.blocks();
  for (Index j = 0; j < blocks; ++j) backward_of_keys<S, true>(workspace, call, sample, kv_head, j);
}

template <class S> void backward_key_block(const AttentionCall& call, Index sample, Index kv_head, Index j) {
  BackwardWorkspace<Compute<S>> workspace;
  backward_of_keys<S, false>(workspace, call, sample, kv_head, j);
}

template <class S> void backward_query_block(const AttentionCall& call, Index sample, Index head_index, Index i) {
  using T = Compute<S>;
  const auto& shape = call.shape;
  const Head<S> head{call, sample, head_index, head_index / (shape.heads / shape.kv_heads)};
  BackwardWorkspace<T> workspace;
  const Rows<S> query_rows = head.query_rows(call.q, i);
  const Index n_queries = round_up(query_rows.rows, group_rows), padded = round_up(shape.head_dim, lane_count<T>);
  const Tile<T> queries = read_tile(query_rows, workspace.queries);
  const Tile<T> douts = read_tile(head.query_rows(call.dout, i), workspace.douts);
  prepare_rows(workspace, head, i);
  const Index first_block = head.first_block(i), last_block = head.last_block(i);
  for (Index j = first_block; j <= last_block; ++j) {
    const Rows<S> keys = head.key_rows(call.k, j), values = head.key_rows(call.v, j);
    const Pair pair{j * block<T>, n_queries, round_up(keys.rows, group_rows)};
    const Tile<T> keys_KH = read_tile(keys, workspace.keys);
    transpose(keys_KH, padded_rows<T>(keys.rows), padded, workspace.keys_HK, block<T>);
    transpose(read_tile(values, workspace.dvalues), padded_rows<T>(keys.rows), padded, workspace.values_HK, block<T>);
    probabilities(workspace, queries, douts, pair, shape);
    add_to_queries(workspace, keys_KH, workspace.dqueries, padded, pair, padded, j == first_block);
  }
  write_tile(workspace.dqueries, head.query_rows(call.dq, i));
}

}  // namespace

void attention_backward(const AttentionCall& call, Index sample, Index kv_head) {
  in_compute_type(call.q.dtype, [&]<class S>() { backward_head<S>(call, sample, kv_head); });
}
void attention_backward_keys(const AttentionCall& call, Index sample, Index kv_head, Index j) {
  in_element_type(call.q.dtype, [&]<class S>() { backward_key_block<S>(call, sample, kv_head, j); });
}
void attention_backward_queries(const AttentionCall& call, Index sample, Index head, Index i) {
  in_element_type(call.q.dtype, [&]<class S>() { backward_query_block<S>(call, sample, head, i); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
