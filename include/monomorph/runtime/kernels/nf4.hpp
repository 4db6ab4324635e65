#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/nf4_places.hpp>

namespace monomorph {

/// A matrix in NF4 with double quantisation, with the bytes that bitsandbytes has: an element is the value of its code
/// times its block's scale; a scale is the value of its byte times that of its nested block, and above it the offset.
/// Each product and each sum is rounded to fp32.
struct Nf4Matrix {
  View codes, absmax;          ///< of u8, one row
  View nested_absmax, offset;  ///< of fp32, one row

  Nf4Matrix() = default;
  Nf4Matrix(View bytes, const Nf4Places& places)
      : codes(bytes[places.codes]),
        absmax(bytes[places.absmax]),
        nested_absmax(numbers(bytes[places.nested_absmax])),
        offset(numbers(bytes[places.offset])) {}
  std::int64_t elements() const { return 2 * codes.elements(); }

 private:
  static View numbers(View bytes) { return {bytes.data, DType::fp32, {1, bytes.elements() / size_of(DType::fp32)}}; }
};

namespace cpu {

/// Finite elements, of any dtype and contiguous, to NF4: of each the nearest code, and of two that are as near the
/// lower one. The offset is the mean of the blocks' greatest magnitudes, summed in fp64. The host quantises, whichever
/// device a model is on, as it does so once.
void quantize_nf4(Queue, View values, const Nf4Matrix& to);
/// The second half of it: scales from each block's greatest magnitude.   @param absmax one row of fp32
void quantize_absmax(Queue, View absmax, const Nf4Matrix& to);
/// The elements, rounded to the dtype of `values`, which is contiguous.
void dequantize_nf4(Queue, const Nf4Matrix& from, View values);

}  // namespace cpu
}  // namespace monomorph
