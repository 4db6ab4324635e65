#pragma once
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What is behind a matrix's name in those of its parts.
inline constexpr std::string_view codes_suffix = ".codes", absmax_suffix = ".absmax",
                                  nested_absmax_suffix = ".nested_absmax", offset_suffix = ".offset";

/// @param places of the matrix's bytes in its unit   @param block the unit's; negative if it is none
/// @param held the rank's shard of the unit's bytes   @param first byte of the unit with which it begins
QuantizedMatrix quantized_matrix(const TensorInfo& info, DType dtype, const Nf4Places& places, int unit, int block,
                                 View held, std::int64_t first);
/// Those of which the rank holds some.
std::vector<StateTensor> held_parts(const QuantizedMatrix& matrix);

/// A whole matrix in NF4, in the host's memory.
class Nf4Buffer {
 public:
  explicit Nf4Buffer(std::int64_t elements);
  const Nf4Matrix& matrix() const { return matrix_; }

 private:
  std::vector<std::byte> bytes_;
  Nf4Matrix matrix_;
};

/// Puts what the rank holds of a matrix in its place.   @param there what reaches its memory
void put(const Nf4Matrix& whole, const QuantizedMatrix& to, HostAccess& there);
/// First values: those that the matrix has where it isn't quantised, in its dtype, quantised.
void initialize(const QuantizedMatrix& matrix, std::uint64_t seed, HostAccess& there);

}  // namespace monomorph::train
