#pragma once
#include "train/weights/bits_and_bytes.hpp"
#include "train/weights/scale_changes.hpp"

#include <monomorph/runtime/kernels/nf4.hpp>

namespace monomorph::train {

/// The bytes that are there. Scales in fp32 are quantised, and `changes` told of it.
void read_nf4(const BitsAndBytesMatrix& matrix, const Nf4Matrix& to, ScaleChanges& changes);
/// The numbers that bitsandbytes makes of it, in the dtype of `to`, which is contiguous.
void dequantize(const BitsAndBytesMatrix& matrix, View to);

}  // namespace monomorph::train
