#include "runtime/cuda/fp8/round_to_fp8.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/fp8/round_tiles.hpp"
#include "runtime/kernels/amax_history.hpp"
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cuda {
namespace {

struct OfMatrix {
  static constexpr int matrices = 1;
  const BFloat16* x;
  std::int64_t stride;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    made[0] = *reinterpret_cast<const MadeElements*>(x + row * stride + col);
  }
};

struct OfBytes {
  static constexpr int matrices = 1;
  const E4M3* x;
  std::int64_t cols;
  __device__ std::uint32_t operator()(std::int64_t row, std::int64_t col, RoundedPart<E4M3> (&parts)[1]) const {
    parts[0] = *reinterpret_cast<const RoundedPart<E4M3>*>(x + row * cols + col);
    return 0;
  }
};

template <class F>
void start(Queue queue, const View& x, const float* scale, const RoundedTo& to, std::int64_t* maximum) {
  round_made(queue, OfMatrix{x.as<const BFloat16>(), x.stride}, x.shape.rows, x.shape.cols, scale,
             Destination<F>{to.as_it_is_RC.as<F>(), to.transposed_CR.as<F>()}, maximum);
}

/// A block for each tensor.
constexpr unsigned history_threads = 32;
__global__ void __launch_bounds__(history_threads)
    choose_scales(const BFloat16* history, std::int64_t updates, int margin, float* scales) {
  std::uint32_t greatest = 0;
  for (std::int64_t i = threadIdx.x; i < updates; i += history_threads)
    greatest = Greater()(greatest, magnitude_of(history[blockIdx.x * updates + i]));
  greatest = joined_in_warp(greatest, warp_lanes, Greater());
  if (threadIdx.x != 0) return;
  const int product = static_cast<int>(blockIdx.x) / scaled_tensors,
            tensor = static_cast<int>(blockIdx.x) % scaled_tensors;
  const float amax = of_magnitude(greatest);
  const bool is_gradient = tensor == static_cast<int>(ScaledTensor::dy);
  const float scale = is_gradient ? scale_of<E5M2>(amax, margin) : scale_of<E4M3>(amax, margin);
  float* const of_product = scales + product * numbers_of_scales;
  of_product[place_of_scale(tensor)] = scale;
  of_product[place_of_inverse(tensor)] = 1 / scale;
}

template <class M>
__global__ void __launch_bounds__(history_threads)
    record(HistoryRun<M> run, std::int64_t rows, const std::int64_t* maxima, const UpdateDecision* decision) {
  for (std::int64_t row = threadIdx.x; row < rows; row += history_threads) run.record(row, maxima[row], *decision);
}

}  // namespace

void round_to_fp8(Queue queue, View x, const float* scale, const RoundedTo& to, std::int64_t* maximum) {
  const DType dtype = to.as_it_is_RC.present() ? to.as_it_is_RC.dtype : to.transposed_CR.dtype;
  if (dtype == DType::e5m2)
    start<E5M2>(queue, x, scale, to, maximum);
  else
    start<E4M3>(queue, x, scale, to, maximum);
}

void transpose_fp8(Queue queue, View from, View to) {
  const auto [rows, cols] = from.shape;
  start_tiles(queue, OfBytes{from.as<const E4M3>(), cols}, rows, cols, Destination<E4M3>{nullptr, to.as<E4M3>()},
              nullptr);
}

void amax_scales(Queue queue, View history, int margin, View scales) {
  launch(choose_scales, {static_cast<unsigned>(history.shape.rows), history_threads}, queue,
         history.as<const BFloat16>(), history.shape.cols, margin, scales.as<float>());
}

void record_amax(Queue queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms) {
  constexpr unsigned one = 1;
  in_element_type(run.master.dtype, [&]<class M>() {
    launch(record<M>, {one, history_threads}, queue, HistoryRun<M>(run, first, history), history.rows, maxima,
           terms.decision);
  });
}

}  // namespace monomorph::cuda
