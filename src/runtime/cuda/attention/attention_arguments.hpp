#pragma once
#include "runtime/cuda/attention/attention.hpp"
#include "runtime/cuda/attention/attention_dropout.hpp"
#include "runtime/cuda/attention/attention_tile.hpp"
#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/row_mask.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

#include <stdexcept>

namespace monomorph::cuda {
namespace {

/// A view of heads side by side.
struct Heads {
  std::byte* data;
  std::int64_t stride, features;
  __device__ AnyElements row(std::int64_t row, std::int64_t head, DType dtype) const {
    return {data + (row * stride + head * features) * size_of(dtype), dtype};
  }
};

/// What a kernel gets.   @tparam T computes
template <class T> struct AttentionArguments {
  DType dtype;
  Heads q, k, v, out, dout, dq, dk, dv;
  T* lse;
  std::int64_t lse_stride;
  T* delta;  ///< (B·N, T): of each query, the product of its result and of the result's gradient
  int tokens, heads, kv_heads, features;
  T scale;
  AttentionMask mask;
  const std::int32_t* document_starts;
  AttentionDropout dropout;
  bool caps_scores;
  SoftCap<T> cap;
  SoftCapGradient<T> uncapped;

  __device__ RowMask row_mask(int sample) const {
    const std::int64_t first = std::int64_t{sample} * tokens;
    return {mask, tokens, document_starts == nullptr ? nullptr : document_starts + first};
  }
};

template <class T>
AttentionArguments<T> arguments_of(Queue queue, const AttentionCall& call, const AttentionDropout& dropout,
                                   T* delta = nullptr) {
  const AttentionShape& shape = call.shape;
  const std::int64_t h = shape.head_dim;
  const auto heads_in = [&](const View& x) {
    if (x.present() && x.dtype != call.q.dtype) throw std::logic_error("attention has heads of one dtype");
    return Heads{x.data, x.stride, h};
  };
  return {call.q.dtype,
          heads_in(call.q),
          heads_in(call.k),
          heads_in(call.v),
          heads_in(call.out),
          heads_in(call.dout),
          heads_in(call.dq),
          heads_in(call.dk),
          heads_in(call.dv),
          call.lse_BNT.as<T>(),
          call.lse_BNT.stride,
          delta,
          static_cast<int>(shape.tokens),
          static_cast<int>(shape.heads),
          static_cast<int>(shape.kv_heads),
          static_cast<int>(h),
          static_cast<T>(shape.scale),
          call.mask,
          on_device(queue, call.document_starts, shape.batch * shape.tokens),
          dropout,
          shape.cap > 0,
          SoftCap<T>(shape.cap),
          SoftCapGradient<T>(shape.cap)};
}

/// Rows of a tile of a head: from position `first` of the sample on.
template <class Tile, class T>
__device__ TileRows tile_rows(const AttentionArguments<T>& call, const Heads& x, int sample, int head, int first) {
  const int left = call.tokens - first;
  return {x.row(std::int64_t{sample} * call.tokens + first, head, call.dtype), static_cast<int>(x.stride),
          left < Tile::side ? left : Tile::side, call.features};
}

/// Positions of keys that some query of a tile sees.
template <class Tile> __device__ KeyRange seen_by_tile(const RowMask& mask, int first_query) {
  const std::int64_t last = first_query + Tile::side - 1;
  return {mask.keys(first_query).first, mask.keys(last < mask.tokens ? last : mask.tokens - 1).end};
}

/// What a query sees; a query behind the row sees nothing.
struct SeenByQuery {
  int first, end;
  __device__ SeenByQuery() : first(0), end(0) {}
  __device__ SeenByQuery(const RowMask& mask, int query) : SeenByQuery() {
    if (query >= mask.tokens) return;
    const KeyRange keys = mask.keys(query);
    first = static_cast<int>(keys.first);
    end = static_cast<int>(keys.end);
  }
  __device__ bool sees(int key) const { return key >= first && key < end; }
};

/// Products of queries and keys become scores. A thread caps its own one by one, in the place that they have in the
/// block's memory: to cap all of them in registers would take more than a call without a cap has to spare. There must
/// be a barrier between the last reading of the memory's weights and this, as multiply_rows has.
template <class Tile, class T>
__device__ void make_scores(const AttentionArguments<T>& call, TileMemory<Tile>& memory, TileProduct<Tile>& products) {
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) products[i][j] *= call.scale;
  }
  if (!call.caps_scores) return;
  write_weights<Tile>(memory, products);
  MONOMORPH_KEEP_LOOP
  for (int at = 0; at < Tile::rows * Tile::rows; ++at) {
    T& score = weight_of_thread<Tile>(memory, at / Tile::rows, at % Tile::rows);
    score = call.cap(score);
  }
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) products[i][j] = weight_of_thread<Tile>(memory, i, j);
  }
}

/// Calls f.operator()<Tile>() for what a dtype is computed in and a number of features.
template <class F> void in_attention_tile(DType dtype, std::int64_t features, F f) {
  if (size_of(dtype) == 1) throw std::logic_error("attention takes heads of fp64, fp32 or 16 bits");
  in_compute_type(dtype, [&]<class T>() {
    // fp64 is there to compare with. Tiles of 64 features would be three more kernels of it; those of 128 have as many
    // rows, and so the same bits.
    constexpr int fewest = std::same_as<T, double> ? 128 : 64;
    if (features <= fewest)
      f.template operator()<TileOf<T, fewest>>();
    else if (features <= 128)
      f.template operator()<TileOf<T, 128>>();
    else if (features <= 256)
      f.template operator()<TileOf<T, 256>>();
    else
      throw std::logic_error("attention takes heads of up to 256 features");
  });
}

/// A block for each tile of each of `sequences`.
template <class Tile> LaunchShape tiles_of(std::int64_t sequences, std::int64_t tokens) {
  const std::int64_t tiles = (tokens + Tile::side - 1) / Tile::side;
  return {{static_cast<unsigned>(sequences), static_cast<unsigned>(tiles)}, {tile_threads}};
}

}  // namespace
}  // namespace monomorph::cuda
