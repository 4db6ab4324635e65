#pragma once

struct CUstream_st;

namespace monomorph::cuda {

/// Where kernels on a GPU take their turn: a CUDA stream.
struct Queue {
  CUstream_st* stream;
};

}  // namespace monomorph::cuda
