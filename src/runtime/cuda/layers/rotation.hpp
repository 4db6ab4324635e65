#pragma once
#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <stdexcept>

/// What kernels that rotate heads share.
namespace monomorph::cuda {
namespace {

/// The tables of angles, and which of their rows is whose.
template <class S> struct Angles {
  Rows<const S> cos, sin;
  std::int64_t first_position;
  const std::int32_t* document_starts;  ///< or null
  int tokens;

  __device__ std::int64_t position(int row) const {
    const std::int64_t start = document_starts != nullptr ? document_starts[row] : 0;
    return first_position + row % tokens - start;
  }
};

/// @param document_starts of so many rows, in the host's memory, or null
template <class S>
Angles<S> angles_of(Queue queue, const View& cos, const View& sin, std::int64_t first_position, std::int64_t tokens,
                    const std::int32_t* document_starts, std::int64_t rows) {
  if (cos.dtype != dtype_of<S> || sin.dtype != dtype_of<S>)
    throw std::logic_error("rotations on GPUs have tables of the dtype that they compute in");
  return {{cos.as<const S>(), cos.stride},
          {sin.as<const S>(), sin.stride},
          first_position,
          document_starts != nullptr ? on_device(queue, document_starts, rows) : nullptr,
          static_cast<int>(tokens)};
}

/// Packs of features i and of features i + H/2.
template <class S, int width> struct Halves { Pack<S, width> low, high; };

template <class S, int width>
__device__ void rotate(Halves<S, width>& x, const Pack<S, width>& cos, const Pack<S, width>& sine) {
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const S a = x.low.at[i], b = x.high.at[i];
    x.low.at[i] = a * cos.at[i] - b * sine.at[i];
    x.high.at[i] = b * cos.at[i] + a * sine.at[i];
  }
}

}  // namespace
}  // namespace monomorph::cuda
