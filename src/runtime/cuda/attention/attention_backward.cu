#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/attention/attention_arguments.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"

/// Two kernels, so that nothing is added atomically: one for the gradients of queries, one for those of keys and
/// values. Each computes the probabilities again.
namespace monomorph::cuda {
namespace {

/// What the gradient of a score depends on besides its key.
template <class T> struct QueryTerms {
  SeenByQuery seen;
  T lse = 0, delta = 0;
};

/// @tparam has_delta whether the kernel before has written it
template <bool has_delta, class T>
__device__ QueryTerms<T> query_terms(const AttentionArguments<T>& call, const RowMask& mask, int sample, int head,
                                     int query) {
  QueryTerms<T> terms;
  if (query >= call.tokens) return terms;
  const std::int64_t sequence = std::int64_t{sample} * call.heads + head;
  terms.seen = SeenByQuery(mask, query);
  terms.lse = call.lse[sequence * call.lse_stride + query];
  if constexpr (has_delta) terms.delta = call.delta[sequence * call.tokens + query];
  return terms;
}

/// Of a pair of a query and a key.
template <class T> struct PairGradient {
  T weight;  ///< of the value in the query's result
  T score;   ///< gradient of the query's product with the key
};

/// What decides about the dropout of a query's pairs. Kept for several queries it would take too many registers.
template <class T> __device__ PhiloxKey dropout_of(const AttentionArguments<T>& call, int sample, int query) {
  return call.dropout.drops ? call.dropout.query(sample, query) : PhiloxKey{};
}

template <class T>
__device__ PairGradient<T> pair_gradient(const AttentionArguments<T>& call, const QueryTerms<T>& query,
                                         const PhiloxKey& dropped, int head, int key, T score, T dweight) {
  if (!query.seen.sees(key)) return {0, 0};
  const T p = std::exp(score - query.lse);
  const T slope = call.caps_scores ? call.uncapped(score, call.scale) : call.scale;
  T factor = 1;
  if (call.dropout.drops) factor = call.dropout.template factor<T>(dropped, std::int64_t{head} * call.tokens + key);
  return {p * factor, p * (factor * dweight - query.delta) * slope};
}

// Queries.

/// Of each of the thread's queries the product of result and gradient, which is written for the other kernel, too.
template <class Tile, class T>
__device__ void compute_delta(const AttentionArguments<T>& call, const TileRows& out, const TileRows& dout,
                              std::int64_t sequence, int first_query, QueryTerms<T> (&terms)[Tile::rows]) {
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    const int row = thread_y() + i * square;
    T sum = 0;
    in_stored_type<T>(out.elements, [&]<class S>(S* data) {
      const S* const gradients = static_cast<const S*>(dout.elements.data);
      MONOMORPH_KEEP_LOOP
      for (int feature = thread_x(); feature < call.features; feature += square)
        sum = fused(out.at(data, row, feature), dout.at(gradients, row, feature), sum);
    });
    terms[i].delta = over_row(sum, Sum());
    if (thread_x() == 0 && row < out.n) call.delta[sequence * call.tokens + first_query + row] = terms[i].delta;
  }
}

template <class Tile>
__global__ void __launch_bounds__(tile_threads, Tile::blocks)
    query_gradients(const __grid_constant__ AttentionArguments<typename Tile::Number> call) {
  auto& memory = block_memory<TileMemory<Tile>>();
  const int sample = static_cast<int>(blockIdx.x) / call.heads, head = static_cast<int>(blockIdx.x) % call.heads;
  const int kv_head = head / (call.heads / call.kv_heads);
  const int first_query = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Tile::side;  // those that see most begin
  const RowMask mask = call.row_mask(sample);
  const auto queries = tile_rows<Tile>(call, call.q, sample, head, first_query);
  const auto douts = tile_rows<Tile>(call, call.dout, sample, head, first_query);
  QueryTerms<typename Tile::Number> terms[Tile::rows];
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i)
    terms[i] = query_terms<false>(call, mask, sample, head, first_query + thread_y() + i * square);
  compute_delta<Tile>(call, tile_rows<Tile>(call, call.out, sample, head, first_query), douts, blockIdx.x, first_query,
                      terms);
  TileSums<Tile> dq{};
  const KeyRange seen = seen_by_tile<Tile>(mask, first_query);
  for (int key = static_cast<int>(seen.first) / Tile::side * Tile::side; key < seen.end; key += Tile::side) {
    const auto keys = tile_rows<Tile>(call, call.k, sample, kv_head, key);
    TileProduct<Tile> scores, dweights;
    multiply_rows<Tile>(memory, queries, keys, scores);
    make_scores<Tile>(call, memory, scores);
    multiply_rows<Tile>(memory, douts, tile_rows<Tile>(call, call.v, sample, kv_head, key), dweights);
    MONOMORPH_UNROLL
    for (int i = 0; i < Tile::rows; ++i) {
      const PhiloxKey dropped = dropout_of(call, sample, first_query + thread_y() + i * square);
      MONOMORPH_UNROLL
      for (int j = 0; j < Tile::rows; ++j) {
        const int at = key + thread_x() + j * square;
        scores[i][j] = pair_gradient(call, terms[i], dropped, head, at, scores[i][j], dweights[i][j]).score;
      }
    }
    write_weights<Tile>(memory, scores);
    add_weighted_rows<Tile>(memory, keys, dq);
  }
  write_sums<Tile>(dq, tile_rows<Tile>(call, call.dq, sample, head, first_query),
                   [](int) { return typename Tile::Number{1}; });
}

// Keys and values.

template <class Tile> struct KeySums { TileSums<Tile> dk{}, dv{}; };

/// Adds what a tile of queries of one head gives. Rows of products are keys, columns queries.
template <class Tile, class T>
__device__ void add_queries(const AttentionArguments<T>& call, TileMemory<Tile>& memory, const RowMask& mask,
                            int sample, int head, int first_query, const TileRows& keys, const TileRows& values,
                            int first_key, KeySums<Tile>& sums) {
  const auto queries = tile_rows<Tile>(call, call.q, sample, head, first_query);
  const auto douts = tile_rows<Tile>(call, call.dout, sample, head, first_query);
  TileProduct<Tile> scores, dweights;
  multiply_rows<Tile>(memory, keys, queries, scores);
  make_scores<Tile>(call, memory, scores);
  multiply_rows<Tile>(memory, values, douts, dweights);
  MONOMORPH_UNROLL
  for (int j = 0; j < Tile::rows; ++j) {
    const int query = first_query + thread_x() + j * square;
    const auto terms = query_terms<true>(call, mask, sample, head, query);
    const PhiloxKey dropped = dropout_of(call, sample, query);
    MONOMORPH_UNROLL
    for (int i = 0; i < Tile::rows; ++i) {
      const int key = first_key + thread_y() + i * square;
      const auto gradient = pair_gradient(call, terms, dropped, head, key, scores[i][j], dweights[i][j]);
      scores[i][j] = gradient.weight;
      dweights[i][j] = gradient.score;
    }
  }
  write_weights<Tile>(memory, scores);
  add_weighted_rows<Tile>(memory, douts, sums.dv);
  __syncthreads();  // the weights have been read
  write_weights<Tile>(memory, dweights);
  add_weighted_rows<Tile>(memory, queries, sums.dk);
}

template <class Tile>
__global__ void __launch_bounds__(tile_threads, 1)
    key_gradients(const __grid_constant__ AttentionArguments<typename Tile::Number> call) {
  auto& memory = block_memory<TileMemory<Tile>>();
  const int sample = static_cast<int>(blockIdx.x) / call.kv_heads,
            kv_head = static_cast<int>(blockIdx.x) % call.kv_heads;
  const int first_key = static_cast<int>(blockIdx.y) * Tile::side, group = call.heads / call.kv_heads;
  const RowMask mask = call.row_mask(sample);
  const auto keys = tile_rows<Tile>(call, call.k, sample, kv_head, first_key);
  const auto values = tile_rows<Tile>(call, call.v, sample, kv_head, first_key);
  KeySums<Tile> sums;
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    for (int query = 0; query < call.tokens; query += Tile::side) {
      const KeyRange seen = seen_by_tile<Tile>(mask, query);
      if (seen.first < first_key + keys.n && first_key < seen.end)
        add_queries<Tile>(call, memory, mask, sample, head, query, keys, values, first_key, sums);
    }
  }
  const auto as_is = [](int) { return typename Tile::Number{1}; };
  write_sums<Tile>(sums.dk, tile_rows<Tile>(call, call.dk, sample, kv_head, first_key), as_is);
  write_sums<Tile>(sums.dv, tile_rows<Tile>(call, call.dv, sample, kv_head, first_key), as_is);
}

void start_backward(Queue queue, const AttentionCall& call, const AttentionDropout& dropout) {
  if (!call.q.present()) return;
  const auto& [batch, tokens, heads, kv_heads, features, scale, cap] = call.shape;
  const std::int64_t sequences = batch * heads, kv_sequences = batch * kv_heads, rows = tokens;
  in_attention_tile(call.q.dtype, features, [&]<class Tile>() {
    using T = typename Tile::Number;
    auto* delta = reinterpret_cast<T*>(workspace(queue, sequences * rows * static_cast<std::int64_t>(sizeof(T))));
    const auto arguments = arguments_of<T>(queue, call, dropout, delta);
    launch(query_gradients<Tile>, tiles_of<Tile>(sequences, rows), queue, arguments);
    launch(key_gradients<Tile>, tiles_of<Tile>(kv_sequences, rows), queue, arguments);
  });
}

}  // namespace

void plain_attention_backward(Queue queue, const AttentionCall& call) { start_backward(queue, call, {}); }

void reference_attention_backward(Queue queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq,
                                  View dk, View dv, const AttentionShape& shape, const AttentionMask& mask,
                                  const DropoutKey& key, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "reference_attention_backward", queue.stream);
  start_backward(queue, {q, k, v, out, lse_BNT, dout, dq, dk, dv, shape, mask, document_starts}, AttentionDropout(key));
}

}  // namespace monomorph::cuda
