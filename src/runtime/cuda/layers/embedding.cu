#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/before_run.hpp"
#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/layers/row_lists.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <stdexcept>
#include <type_traits>

namespace monomorph::cuda {
namespace {

/// Calls f with the element types of two dtypes that are the same, or of which one is fp32 and the other has 16 bits.
template <class F> void in_element_types(DType a, DType b, F f) {
  in_element_type(a, [&]<class A>() {
    if (a == b) return f.template operator()<A, A>();
    if constexpr (std::is_same_v<A, float>) {
      if (b == DType::bf16) return f.template operator()<float, BFloat16>();
      if (b == DType::fp16) return f.template operator()<float, Half>();
    } else if constexpr (sizeof(A) == 2) {
      if (b == DType::fp32) return f.template operator()<A, float>();
    }
    throw std::logic_error("cuda embeddings have one dtype, or fp32 and one of 16 bits");
  });
}

/// Where rows find their positions.
struct Positions {
  std::int64_t tokens, first;
  const std::int32_t* document_starts;  ///< or null
  __device__ std::int64_t of(std::int64_t row) const {
    return first + row % tokens - (document_starts == nullptr ? 0 : document_starts[row]);
  }
};

template <int width, class T, class X>
__device__ void embed_pack(const T* entry, const T* shift, Compute<X> scale, X* x) {
  using S = Compute<X>;
  auto sum = read_pack<S, width>(entry);
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) sum.at[i] = scale * sum.at[i];
  if (shift != nullptr) sum = sum + read_pack<S, width>(shift);
  write_pack(sum, x);
}

template <int width, class T, class X>
__global__ void __launch_bounds__(map_threads)
    embed(Extent extent, const std::int32_t* ids, Rows<const T> table, Rows<const T> shifts, Positions positions,
          Compute<X> scale, Rows<X> x) {
  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * width;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  for (std::int64_t row = first_row; row < extent.rows; row += std::int64_t{gridDim.y} * blockDim.y) {
    const T* const entry = table.data + ids[row] * table.stride;
    const T* const shift = shifts.data == nullptr ? nullptr : shifts.data + positions.of(row) * shifts.stride;
    X* const to = x.data + row * x.stride;
    for (std::int64_t col = first; col < extent.cols; col += step) {
      if (col + width <= extent.cols) {
        embed_pack<width>(entry + col, shift == nullptr ? nullptr : shift + col, scale, to + col);
      } else {
        MONOMORPH_KEEP_LOOP
        for (std::int64_t tail = col; tail < extent.cols; ++tail)
          embed_pack<1>(entry + tail, shift == nullptr ? nullptr : shift + tail, scale, to + tail);
      }
    }
  }
}

/// Blocks of a multiprocessor are said to be few, as the compiler would rather have more of them than rows on their
/// way.
constexpr unsigned sum_threads = 64, fewest_sum_blocks = 8;

/// Row lists as a kernel gets them: RowLists' numbers.
struct ListsOfRows {
  const std::int32_t* numbers;
  __device__ unsigned size() const { return static_cast<unsigned>(numbers[0]); }
  __device__ const std::int32_t* rows() const { return numbers + RowLists::n_heading; }
  __device__ std::int32_t key(unsigned list) const { return numbers[numbers[1] + list]; }
  __device__ std::int32_t start(unsigned list) const { return numbers[numbers[2] + list]; }
};

/// How the sum of a list and what is there before become what is stored.
enum class Order {
  each_row_onto_before,  ///< rounded to what is stored after each row
  sum_onto_before
};

/// Adds up rows, many of which are on their way at a time.
template <Order order, int width, class X, class T> struct RowSum {
  using S = Compute<T>;
  S scale;  ///< of each row
  Pack<S, width> sum;

  __device__ void add(const Pack<X, width>& row) {
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) {
      sum.at[i] = sum.at[i] + scale * converted<S>(row.at[i]);
      if constexpr (order == Order::each_row_onto_before) sum.at[i] = converted<S>(converted<T>(sum.at[i]));
    }
  }
  /// Of as many rows as a multiple of n.   @return the first of the rest
  template <int n>
  __device__ std::int32_t add_rows(const std::int32_t* rows, std::int32_t i, std::int32_t end, Rows<const X> x) {
    MONOMORPH_KEEP_LOOP
    for (; i + n <= end; i += n) {
      Pack<X, width> ahead[n];
      MONOMORPH_UNROLL
      for (int k = 0; k < n; ++k) ahead[k] = *reinterpret_cast<const Pack<X, width>*>(x.data + rows[i + k] * x.stride);
      MONOMORPH_UNROLL
      for (int k = 0; k < n; ++k) add(ahead[k]);
    }
    return i;
  }
};

/// One key's rows of x are added up onto its row of y, a pack by a thread. There are as many columns as whole packs.
template <Order order, int width, class X, class T>
__global__ void __launch_bounds__(sum_threads, fewest_sum_blocks)
    sum_lists(ListsOfRows lists, std::int64_t columns, Rows<const X> x, Rows<T> y, bool accumulate, Compute<T> scale) {
  const std::int64_t column = (std::int64_t{blockIdx.y} * sum_threads + threadIdx.x) * width;
  if (column >= columns || blockIdx.x >= lists.size()) return;
  const std::int32_t key = lists.key(blockIdx.x), end = lists.start(blockIdx.x + 1);
  const std::int32_t* const rows = lists.rows();
  T* const to = y.data + key * y.stride + column;
  x.data += column;
  using Sum = RowSum<order, width, X, T>;
  Sum sum{.scale = scale, .sum = {}};
  if (order == Order::each_row_onto_before && accumulate) sum.sum = read_pack<typename Sum::S, width>(to);
  constexpr int few = 4,
                many = width > 1 ? 64 / static_cast<int>(sizeof(X)) : few;  // rows that are not aligned are rare
  std::int32_t next = sum.template add_rows<many>(rows, lists.start(blockIdx.x), end, x);
  next = sum.template add_rows<few>(rows, next, end, x);
  sum.template add_rows<1>(rows, next, end, x);
  if (order == Order::sum_onto_before && accumulate) sum.sum = read_pack<typename Sum::S, width>(to) + sum.sum;
  write_pack(sum.sum, to);
}

struct ListsOnGpu {
  ListsOfRows lists;
  std::int64_t size;
};
/// @param lists makes them   @param most lists, of which a kernel that is recorded has to have blocks
template <class Lists> ListsOnGpu lists_on_gpu(Queue queue, std::int64_t rows, std::int64_t most, Lists lists) {
  if (!is_recorded(queue)) {
    const RowLists made = lists();
    return {{on_device(queue, made.numbers().data(), std::ssize(made.numbers()))}, made.size()};
  }
  const auto write = [lists](std::byte* to) {
    const RowLists made = lists();
    std::memcpy(to, made.numbers().data(), made.numbers().size() * sizeof(std::int32_t));
  };
  const std::int64_t bytes = RowLists::most_numbers(rows, most) * static_cast<std::int64_t>(sizeof(std::int32_t));
  return {{reinterpret_cast<const std::int32_t*>(written_before_run(bytes, write))}, most};
}

template <Order order>
void sum_by_key(Queue queue, const ListsOnGpu& by, const View& x, const View& y, bool accumulate, double scale) {
  if (by.size == 0 || !y.present()) return;
  in_element_types(x.dtype, y.dtype, [&]<class X, class T>() {
    const auto start = [&]<int width>() {
      const std::int64_t columns = y.shape.cols, tile = std::int64_t{sum_threads} * width;
      const dim3 blocks(static_cast<unsigned>(by.size), static_cast<unsigned>((columns + tile - 1) / tile));
      launch(sum_lists<order, width, X, T>, {blocks, sum_threads}, queue, by.lists, columns,
             Rows<const X>{x.as<const X>(), x.stride}, Rows<T>{y.as<T>(), y.stride}, accumulate,
             static_cast<Compute<T>>(as_element(x.dtype, scale)));
    };
    constexpr int width = 4;
    if (y.shape.cols % width == 0 && rows_start_access(x) && rows_start_access(y))
      start.template operator()<width>();
    else
      start.template operator()<1>();
  });
}

}  // namespace

void embedding(Queue queue, const std::int32_t* ids, View table, View positions, std::int64_t tokens,
               std::int64_t first_position, View x, const std::int32_t* document_starts, double scale) {
  const KernelSpan span(Work::elementwise, "embedding", queue.stream);
  if (!x.present()) return;
  if (positions.present() && positions.dtype != table.dtype)
    throw std::logic_error("cuda::embedding adds positions of the table's dtype");
  const Positions places{tokens, first_position, on_device(queue, document_starts, x.shape.rows)};
  const Extent extent{x.shape.rows, x.shape.cols};
  const std::int32_t* const ids_there = on_device(queue, ids, x.shape.rows);
  in_element_types(table.dtype, x.dtype, [&]<class T, class X>() {
    const auto start = [&]<int width>() {
      const Rows<const T> shifts{positions.present() ? positions.as<const T>() : nullptr, positions.stride};
      launch(embed<width, T, X>, shape_of(extent, width), queue, extent, ids_there,
             Rows<const T>{table.as<const T>(), table.stride}, shifts, places,
             static_cast<Compute<X>>(as_element(x.dtype, scale)), Rows<X>{x.as<X>(), x.stride});
    };
    if (rows_start_access(table) && rows_start_access(positions) && rows_start_access(x))
      start.template operator()<pack_width<T, X>()>();
    else
      start.template operator()<1>();
  });
}

void embedding_backward(Queue queue, const std::int32_t* ids, View dx, View dtable, bool accumulate, double scale) {
  const KernelSpan span(Work::elementwise, "embedding_backward", queue.stream);
  if (!accumulate) zero(queue, dtable);
  const std::int64_t rows = dx.shape.rows, keys = dtable.shape.rows;
  const auto lists = [=] {
    return RowLists({ids, static_cast<std::size_t>(rows)}, keys, RowLists::Lists::of_keys_with_rows);
  };
  sum_by_key<Order::each_row_onto_before>(queue, lists_on_gpu(queue, rows, std::min(rows, keys), lists), dx, dtable,
                                          accumulate, scale);
}

void position_embedding_backward(Queue queue, View dx, std::int64_t tokens, View dpositions, bool accumulate,
                                 const std::int32_t* document_starts) {
  const KernelSpan span(Work::elementwise, "position_embedding_backward", queue.stream);
  const std::int64_t rows = dx.shape.rows, keys = dpositions.shape.rows;
  const auto lists = [=] {
    std::vector<std::int32_t> positions(rows);
    for (std::int64_t row = 0; row < rows; ++row)
      positions[row] =
          static_cast<std::int32_t>(row % tokens) - (document_starts == nullptr ? 0 : document_starts[row]);
    return RowLists(positions, keys, RowLists::Lists::of_all_keys);
  };
  sum_by_key<Order::sum_onto_before>(queue, lists_on_gpu(queue, rows, keys, lists), dx, dpositions, accumulate, 1);
}

}  // namespace monomorph::cuda
