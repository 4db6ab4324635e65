#pragma once

struct CUstream_st;

namespace monomorph::cuda {

/// The stream of this process that computes: kernels that are put there run in that order. It waits for no other.
CUstream_st* compute_stream();

class UpdateQueue;

/// Where kernels on a GPU take their turn: a CUDA stream.
struct Queue {
  using Updates = UpdateQueue;
  CUstream_st* stream = compute_stream();
};

}  // namespace monomorph::cuda
