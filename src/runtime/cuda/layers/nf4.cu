#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/nf4_values.hpp"

namespace monomorph::cuda {
namespace {

constexpr int nf4_threads = 256, nf4_width = 8;  ///< elements of a thread, whose codes are one access

/// The values of codes, which the threads of a block look up in memory that they share.
struct Nf4Values {
  float scales[dynamic_values.size()];
  float elements[nf4_values.size()];
};
constexpr Nf4Values values_of_codes = [] {
  Nf4Values values{};
  for (std::size_t i = 0; i < dynamic_values.size(); ++i) values.scales[i] = dynamic_values[i];
  for (std::size_t i = 0; i < nf4_values.size(); ++i) values.elements[i] = nf4_values[i];
  return values;
}();

struct Nf4Bytes {
  const std::uint32_t* codes;
  const std::uint8_t* absmax;
  const float *nested_absmax, *offset;
};

/// A thread makes the numbers of the eight codes of one word.
template <class T>
__global__ void __launch_bounds__(nf4_threads)
    make_numbers(const __grid_constant__ Nf4Values table, Nf4Bytes from, T* to, std::int64_t n_words) {
  auto& values = block_memory<Nf4Values>();
  static_assert(nf4_threads == sizeof(table.scales) / sizeof(float));
  values.scales[threadIdx.x] = table.scales[threadIdx.x];
  if (threadIdx.x < sizeof(table.elements) / sizeof(float)) values.elements[threadIdx.x] = table.elements[threadIdx.x];
  __syncthreads();
  const std::int64_t word = static_cast<std::int64_t>(blockIdx.x) * nf4_threads + threadIdx.x;
  if (word >= n_words) return;
  const std::int64_t block = word * nf4_width / Nf4Places::block;
  const float scaled = values.scales[from.absmax[block]] * from.nested_absmax[block / Nf4Places::nested_block];
  const float scale = scaled + *from.offset;
  const std::uint32_t codes = from.codes[word];
  Pack<float, nf4_width> numbers;
  MONOMORPH_UNROLL
  for (int i = 0; i < nf4_width; ++i) {
    const int in_byte = i % 2 == 0 ? 4 : 0;  // the first of two codes is in the high bits
    numbers.at[i] = values.elements[codes >> (i / 2 * 8 + in_byte) & 15] * scale;
  }
  constexpr int width = access_bytes / sizeof(T) < nf4_width ? access_bytes / sizeof(T) : nf4_width;
  MONOMORPH_UNROLL
  for (int first = 0; first < nf4_width; first += width) {
    Pack<float, width> part;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) part.at[i] = numbers.at[first + i];
    write_pack(part, to + word * nf4_width + first);
  }
}

}  // namespace

void dequantize_nf4(Queue queue, const Nf4Matrix& from, View values) {
  const KernelSpan span(Work::elementwise, "dequantize_nf4", queue.stream);
  const std::int64_t n_words = from.elements() / nf4_width;
  const auto blocks = static_cast<unsigned>((n_words + nf4_threads - 1) / nf4_threads);
  in_element_type(values.dtype, [&]<class T>() {
    launch(make_numbers<T>, {{blocks}, {nf4_threads}}, queue, values_of_codes,
           Nf4Bytes{from.codes.as<const std::uint32_t>(), from.absmax.as<const std::uint8_t>(),
                    from.nested_absmax.as<const float>(), from.offset.as<const float>()},
           values.as<T>(), n_words);
  });
}

}  // namespace monomorph::cuda
