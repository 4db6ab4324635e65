#pragma once
#include <cstdint>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <vector>

namespace monomorph::cuda {

/// A matrix that is to be made orthogonal, with what the kernel of that name is told of it
/// (runtime/kernels/optimizer.hpp).
struct Orthogonalization {
  View matrix, workspace;
  double squared_scale;
  std::int64_t iterations;
};

/// Matrices of one shape in the order in which they were asked for, with scratch memories of one dtype that begin
/// equally far apart: what one product of a batch can multiply.
class AlikeMatrices {
 public:
  explicit AlikeMatrices(const Orthogonalization& first) : matrices_{first} {}
  /// Whether a matrix is like those before.
  bool takes(const Orthogonalization& next) const;
  void add(const Orthogonalization& next) { matrices_.push_back(next); }
  /// Starts what makes them orthogonal: the same few products however many there are, and of each matrix what divides
  /// it by its norm and brings it back.
  /// @throws Error [KERNEL-05] CUDA does not start a kernel, [GPU-04] cuBLASLt has not a product, or does not start it
  void start(Queue queue) const;

 private:
  std::int64_t distance() const;  ///< from a matrix's scratch memory to that of the next one, in bytes

  std::vector<Orthogonalization> matrices_;
};

}  // namespace monomorph::cuda
