#include "runtime/cuda/fp8/round_rotated.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/fp8/round_tiles.hpp"
#include "runtime/cuda/layers/rotation.hpp"

namespace monomorph::cuda {
namespace {

/// Rotates heads back, as `rotary` does that stores them: each element from its own and its partner's number. Half a
/// head is a multiple of what is made at once.
struct RotatedBack {
  static constexpr int matrices = 1;
  Rows<const BFloat16> x;
  std::int64_t rotated;
  int half;
  Angles<float> angles;

  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const BFloat16* const at = x.data + row * x.stride + col;
    if (col >= rotated) {
      made[0] = *reinterpret_cast<const MadeElements*>(at);
      return;
    }
    const int feature = static_cast<int>(col) % (2 * half);
    const bool is_low = feature < half;
    const int angle = is_low ? feature : feature - half;
    const std::int64_t position = angles.position(static_cast<int>(row));
    const auto own = read_pack<float, half_width>(at),
               partner = read_pack<float, half_width>(is_low ? at + half : at - half);
    const auto cos = read_pack<float, half_width>(angles.cos.data + position * angles.cos.stride + angle),
               sine = read_pack<float, half_width>(angles.sin.data + position * angles.sin.stride + angle);
    const float direction = is_low ? 1.0F : -1.0F;
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i)
      narrow(own.at[i] * cos.at[i] + direction * partner.at[i] * sine.at[i], made[0].at[i]);
  }
};

}  // namespace

void round_rotated_back(Queue queue, const RotatedHeads& heads, const float* scale, const RoundedTo& to,
                        std::int64_t* maximum) {
  const auto& [dy, rotated, cos, sin, tokens, document_starts] = heads;
  const auto half = static_cast<int>(cos.shape.cols);
  if (half % half_width != 0 || !rows_start_access(cos) || !rows_start_access(sin)) {
    rotary(queue, dy.columns(0, rotated), cos, sin, tokens, 0, true, document_starts);
    return round_to_fp8(queue, dy, scale, to, maximum);
  }
  const RotatedBack maker{{dy.as<const BFloat16>(), dy.stride},
                          rotated,
                          half,
                          angles_of<float>(queue, cos, sin, 0, tokens, document_starts, dy.shape.rows)};
  round_made(queue, maker, dy.shape.rows, dy.shape.cols, scale,
             Destination<E5M2>{to.as_it_is_RC.as<E5M2>(), to.transposed_CR.as<E5M2>()}, maximum);
}

}  // namespace monomorph::cuda
