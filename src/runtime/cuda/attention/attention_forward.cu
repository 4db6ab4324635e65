#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/attention/attention_arguments.hpp"
#include "runtime/cuda/attention/plain_attention.hpp"

/// A block computes a tile of queries and goes through the tiles of keys that they see (Dao et al. 2022).
namespace monomorph::cuda {
namespace {

/// The softmax of a thread's queries over the keys so far; the same bits in all threads of a row.
template <class Tile> struct RunningSoftmax {
  using T = typename Tile::Number;
  T highest[Tile::rows], total[Tile::rows];

  __device__ RunningSoftmax() {
    MONOMORPH_UNROLL
    for (int i = 0; i < Tile::rows; ++i) {
      highest[i] = -static_cast<T>(INFINITY);
      total[i] = 0;
    }
  }

  /// Scores of row i become probabilities, not divided by their sum yet.   @return what sums so far shrink by
  __device__ T take(int i, T (&scores)[Tile::rows]) {
    T most = highest[i], sum = 0;
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) most = Larger()(most, scores[j]);
    most = over_row(most, Larger());
    const T base = most == -static_cast<T>(INFINITY) ? T{0} : most;  // a query may have seen nothing yet
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) sum += scores[j] = std::exp(scores[j] - base);
    const T shrink = std::exp(highest[i] - base);
    total[i] = fused(total[i], shrink, over_row(sum, Sum()));
    highest[i] = most;
    return shrink;
  }
};

/// A thread's queries.
template <class Tile> struct ForwardRows {
  SeenByQuery seen[Tile::rows];
  PhiloxKey dropped[Tile::rows] = {};
};

template <class Tile, class T>
__device__ ForwardRows<Tile> rows_of_thread(const AttentionArguments<T>& call, const RowMask& mask, int sample,
                                            int first_query) {
  ForwardRows<Tile> rows;
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    const int query = first_query + thread_y() + i * square;
    rows.seen[i] = SeenByQuery(mask, query);
    if (call.dropout.drops) rows.dropped[i] = call.dropout.query(sample, query);
  }
  return rows;
}

/// Takes the keys of a tile into the softmax, and shrinks the sums so far. Scores become weights of values.
template <class Tile, class T>
__device__ void weigh(const AttentionArguments<T>& call, const ForwardRows<Tile>& rows, int head, int first_key,
                      TileProduct<Tile>& scores, RunningSoftmax<Tile>& softmax, TileSums<Tile>& sums) {
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) {
      const bool sees = rows.seen[i].sees(first_key + thread_x() + j * square);
      scores[i][j] = sees ? scores[i][j] : -static_cast<T>(INFINITY);
    }
    const T shrink = softmax.take(i, scores[i]);
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::columns; ++j) sums[i][j] *= shrink;
    if (!call.dropout.drops) continue;
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) {
      const std::int64_t element = std::int64_t{head} * call.tokens + first_key + thread_x() + j * square;
      scores[i][j] *= call.dropout.template factor<T>(rows.dropped[i], element);
    }
  }
}

template <class Tile, class T>
__device__ void write_lse(const AttentionArguments<T>& call, const RunningSoftmax<Tile>& softmax, std::int64_t sequence,
                          int first_query) {
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    const int query = first_query + thread_y() + i * square;
    if (thread_x() == 0 && query < call.tokens)
      call.lse[sequence * call.lse_stride + query] = softmax.highest[i] + std::log(softmax.total[i]);
  }
}

template <class Tile>
__global__ void __launch_bounds__(tile_threads, Tile::blocks)
    attend(const __grid_constant__ AttentionArguments<typename Tile::Number> call) {
  auto& memory = block_memory<TileMemory<Tile>>();
  const int sample = static_cast<int>(blockIdx.x) / call.heads, head = static_cast<int>(blockIdx.x) % call.heads;
  const int kv_head = head / (call.heads / call.kv_heads);
  const int first_query = static_cast<int>(gridDim.y - 1 - blockIdx.y) * Tile::side;  // those that see most begin
  const RowMask mask = call.row_mask(sample);
  const ForwardRows<Tile> rows = rows_of_thread<Tile>(call, mask, sample, first_query);
  const auto queries = tile_rows<Tile>(call, call.q, sample, head, first_query);
  RunningSoftmax<Tile> softmax;
  TileSums<Tile> sums{};
  const KeyRange seen = seen_by_tile<Tile>(mask, first_query);
  for (int key = static_cast<int>(seen.first) / Tile::side * Tile::side; key < seen.end; key += Tile::side) {
    TileProduct<Tile> scores;
    multiply_rows<Tile>(memory, queries, tile_rows<Tile>(call, call.k, sample, kv_head, key), scores);
    make_scores<Tile>(call, memory, scores);
    weigh<Tile>(call, rows, head, key, scores, softmax, sums);
    write_weights<Tile>(memory, scores);
    add_weighted_rows<Tile>(memory, tile_rows<Tile>(call, call.v, sample, kv_head, key), sums);
  }
  write_sums<Tile>(sums, tile_rows<Tile>(call, call.out, sample, head, first_query),
                   [&](int i) { return 1 / softmax.total[i]; });
  write_lse<Tile>(call, softmax, blockIdx.x, first_query);
}

void start_forward(Queue queue, const AttentionCall& call, const AttentionDropout& dropout) {
  if (!call.q.present()) return;
  in_attention_tile(call.q.dtype, call.shape.head_dim, [&]<class Tile>() {
    launch(attend<Tile>, tiles_of<Tile>(call.shape.batch * call.shape.heads, call.shape.tokens), queue,
           arguments_of<typename Tile::Number>(queue, call, dropout));
  });
}

}  // namespace

void plain_attention(Queue queue, const AttentionCall& call) { start_forward(queue, call, {}); }

void reference_attention(Queue queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                         const AttentionMask& mask, const DropoutKey& key, const std::int32_t* document_starts) {
  const KernelSpan span(Work::attention, "reference_attention", queue.stream);
  start_forward(queue, {q, k, v, out, lse_BNT, {}, {}, {}, {}, shape, mask, document_starts}, AttentionDropout(key));
}

}  // namespace monomorph::cuda
