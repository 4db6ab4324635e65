#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/fused.hpp"
#include "runtime/cuda/launch/pack.hpp"

/// A tile of a matrix product, computed by one block: for products that cuBLASLt cannot be asked for, as how many rows
/// they have is known on the GPU alone, or as their factors have two dtypes. Each element is a sum in one order, which
/// depends on nothing but how many terms it has.
namespace monomorph::cuda {
namespace {

constexpr int product_tile = 64, product_depth = 16, product_threads = 256, product_pack = 4,
              tile_packs = product_tile / product_pack;
static_assert(product_threads * product_pack == product_tile * product_depth);
static_assert(product_threads == tile_packs * tile_packs);

/// Along which of its indices a factor's elements lie side by side: that of the tile's rows or columns, or the one that
/// is summed over.
enum class SideBySide { outer, inner };

/// What a tile takes of a factor: as many outer indices as the tile has, or `outer` of them at a border, for `inner`
/// terms.
template <SideBySide side_by_side, class T> struct Factor {
  const T* data;
  std::int64_t stride;
  std::int64_t outer, inner;
  bool packed;  ///< packs begin where accesses do

  __device__ const T* at(std::int64_t i, std::int64_t term) const {
    return side_by_side == SideBySide::inner ? data + i * stride + term : data + term * stride + i;
  }
  /// The thread's place in a piece of so many terms.
  static __device__ int first_outer() {
    const int thread = static_cast<int>(threadIdx.x);
    return side_by_side == SideBySide::inner ? thread / (product_depth / product_pack)
                                             : thread % tile_packs * product_pack;
  }
  static __device__ int first_inner() {
    const int thread = static_cast<int>(threadIdx.x);
    return side_by_side == SideBySide::inner ? thread % (product_depth / product_pack) * product_pack
                                             : thread / tile_packs;
  }
  /// The thread's elements of the piece that begins with a term, zeros beyond the factor's end.
  template <class S> __device__ Pack<S, product_pack> read(std::int64_t first_term) const {
    constexpr bool inside = side_by_side == SideBySide::inner;
    const std::int64_t i = first_outer(), term = first_term + first_inner();
    const std::int64_t there = inside ? (i < outer ? inner - term : 0) : (term < inner ? outer - i : 0);
    if (packed && there >= product_pack) return read_pack<S, product_pack>(at(i, term));
    Pack<S, product_pack> pack{};
    MONOMORPH_UNROLL
    for (int k = 0; k < product_pack; ++k)
      if (k < there) pack.at[k] = converted<S>(*(at(i, term) + k));
    return pack;
  }
};

/// A piece of both factors in the block's memory, a row for each term. Rows are apart by a pack more than they have, so
/// that threads that write below each other meet in fewer banks.
template <class S> struct alignas(access_bytes) Pieces {
  S a[product_depth][product_tile + product_pack], b[product_depth][product_tile + product_pack];
};

template <SideBySide side_by_side, class T, class S>
__device__ void put(const Factor<side_by_side, T>& factor, const Pack<S, product_pack>& pack,
                    S (&piece)[product_depth][product_tile + product_pack]) {
  const int i = factor.first_outer(), term = factor.first_inner();
  if constexpr (side_by_side == SideBySide::outer) {
    write_pack(pack, &piece[term][i]);
  } else {
    MONOMORPH_UNROLL
    for (int k = 0; k < product_pack; ++k) piece[term + k][i] = pack.at[k];
  }
}

/// The elements of a tile that a thread has: some rows of some columns.
template <class S> struct TileSums {
  Pack<S, product_pack> rows[product_pack] = {};

  static __device__ int first_row() { return static_cast<int>(threadIdx.x) / tile_packs * product_pack; }
  static __device__ int first_column() { return static_cast<int>(threadIdx.x) % tile_packs * product_pack; }

  __device__ void add_piece(const Pieces<S>& pieces) {
    MONOMORPH_UNROLL
    for (int term = 0; term < product_depth; ++term) {
      const auto a = read_pack<S, product_pack>(&pieces.a[term][first_row()]),
                 b = read_pack<S, product_pack>(&pieces.b[term][first_column()]);
      MONOMORPH_UNROLL
      for (int i = 0; i < product_pack; ++i) {
        MONOMORPH_UNROLL
        for (int k = 0; k < product_pack; ++k) rows[i].at[k] = fused(a.at[i], b.at[k], rows[i].at[k]);
      }
    }
  }

  /// Adds the product of two factors with as many terms each. All threads of the block must come.
  template <SideBySide of_a, class A, SideBySide of_b, class B>
  __device__ void add_product(const Factor<of_a, A>& a, const Factor<of_b, B>& b) {
    auto& pieces = block_memory<Pieces<S>>();
    auto next_a = a.template read<S>(0), next_b = b.template read<S>(0);
    MONOMORPH_KEEP_LOOP
    for (std::int64_t term = 0; term < a.inner; term += product_depth) {
      __syncthreads();
      put(a, next_a, pieces.a);
      put(b, next_b, pieces.b);
      __syncthreads();
      // On their way while the piece before them is multiplied.
      next_a = a.template read<S>(term + product_depth);
      next_b = b.template read<S>(term + product_depth);
      add_piece(pieces);
    }
  }

  /// Stores the sums, or adds them to what is there.
  /// @param to of the tile's first element   @param n_rows, n_columns of the tile that there are
  template <class T>
  __device__ void store(T* to, std::int64_t stride, std::int64_t n_rows, std::int64_t n_columns, bool packed,
                        bool accumulate) const {
    const std::int64_t there = n_columns - first_column();
    MONOMORPH_UNROLL
    for (int i = 0; i < product_pack; ++i) {
      if (first_row() + i >= n_rows) continue;
      T* const row = to + (first_row() + i) * stride + first_column();
      if (packed && there >= product_pack) {
        auto sum = rows[i];
        if (accumulate) sum = read_pack<S, product_pack>(row) + sum;
        write_pack(sum, row);
      } else {
        MONOMORPH_UNROLL
        for (int k = 0; k < product_pack; ++k)
          if (k < there) row[k] = converted<T>(accumulate ? converted<S>(row[k]) + rows[i].at[k] : rows[i].at[k]);
      }
    }
  }
};

MONOMORPH_HOST_DEVICE inline std::int64_t tiles_of(std::int64_t n) { return (n + product_tile - 1) / product_tile; }
/// How much of n a tile has that begins at `first`.
__device__ inline std::int64_t in_tile(std::int64_t n, std::int64_t first) {
  return n - first < product_tile ? n - first : product_tile;
}

}  // namespace
}  // namespace monomorph::cuda
