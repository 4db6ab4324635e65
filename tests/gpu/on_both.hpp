#pragma once
#include "support/catch.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>

#include <memory>
#include <type_traits>

/// The same kernel on a CPU and on a GPU, with the same operands.
namespace monomorph::testing {

/// A matrix in the memory of both.
class Mirror {
 public:
  Mirror(const Matrix& matrix, DType dtype, std::int64_t gap = 0)
      : storage_(matrix, dtype, gap), memory_(allocate(std::ssize(storage_.bytes()))) {
    cuda::copy_from_host({}, all(storage_.bytes().data()), all(memory_.get()));
  }
  View cpu() const { return storage_.view(); }
  View gpu() const {
    View view = storage_.view();
    view.data = memory_.get();
    return view;
  }
  /// Of what the GPU's holds.
  Values values() const {
    Storage result(storage_);
    cuda::HostBytes copied;
    const View from_gpu = cuda::copy_to_host({}, gpu(), copied);
    return values_at(from_gpu);
  }

 private:
  struct Release {
    std::int64_t bytes;
    void operator()(std::byte* memory) const { cuda::allocator({}).release(memory, bytes); }
  };
  Storage storage_;
  std::unique_ptr<std::byte, Release> memory_;
};

}  // namespace monomorph::testing
