#include "runtime/cuda/layers/first_values.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/layers/draw_elements.hpp"
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cuda {
namespace {

/// The numbers of random::symmetric_uniform, which are exact but for one product.
struct UniformNumbers {
  static constexpr int width = 2;
  static constexpr bool differs_by_device = false;
  DrawKey key;
  double half_width;

  __device__ Pack<double, width> operator()(std::uint64_t counter) const {
    const PhiloxWords words = drawn_words(key, counter);
    return {{random::symmetric(random::unit_of_53_bits(words.of[0], words.of[1]), half_width),
             random::symmetric(random::unit_of_53_bits(words.of[2], words.of[3]), half_width)}};
  }
};

template <class T>
__global__ void __launch_bounds__(map_threads)
    scatter(const T* values, const std::uint32_t* elements, std::int64_t n, T* x) {
  const auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) x[elements[i]] = values[i];
}

}  // namespace

void fill_uniform(Queue queue, View x, const random::Stream& stream, std::uint64_t first, double half_width) {
  if (!x.present()) return;
  const KernelSpan span(Work::elementwise, "fill_uniform", queue.stream);
  in_element_type(x.dtype, [&]<class T>() {
    start_drawing<T>(queue, UniformNumbers{draw_key(stream), half_width}, first, x, {});
  });
}

void draw_normal(Queue queue, View x, const NormalRun& run, double margin, const UndecidedList& undecided) {
  in_drawn_type(x.dtype, [&]<class T>() {
    with_normal_numbers(run, margin,
                        [&](const auto& numbers) { start_drawing<T>(queue, numbers, run.first, x, undecided); });
  });
}

void put_elements(Queue queue, View values, const std::uint32_t* elements, View x) {
  const auto blocks = static_cast<unsigned>((values.elements() + map_threads - 1) / map_threads);
  in_drawn_type(x.dtype, [&]<class T>() {
    launch(scatter<T>, {blocks, map_threads}, queue, values.as<const T>(), elements, values.elements(), x.as<T>());
  });
}

}  // namespace monomorph::cuda
