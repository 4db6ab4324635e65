#pragma once
#include "support/catch.hpp"
#include "support/generic_arithmetic.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/runtime/cuda/device.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>
#include <monomorph/runtime/machine/gpus.hpp>

#include <cstring>
#include <memory>
#include <numeric>

/// Ends a test case on a machine without a GPU.
#define MONOMORPH_NEEDS_GPU \
  if (gpus().empty()) MONOMORPH_SKIP("there is no GPU here, or no driver for it")

/// The same kernels on a CPU and on a GPU, with the same operands.
namespace monomorph::testing {

/// A matrix in the memory of both.
class Mirror {
 public:
  Mirror(const Matrix& matrix, DType dtype, std::int64_t gap = 0)
      : host_(std::make_shared<Storage>(matrix, dtype, gap)), gpu_(host_->view()) {
    if (!gpu_.present()) return;
    const auto bytes = std::ssize(host_->bytes());
    const Allocator& allocator = cuda::allocator({});
    memory_ = {allocator.allocate(bytes), [&allocator, bytes](std::byte* m) { allocator.release(m, bytes); }};
    gpu_.data = memory_.get();
    cuda::copy_from_host({}, whole(host_->view().data), whole(gpu_.data));
  }
  View on(cpu::Queue) const { return host_->view(); }
  View on(cuda::Queue) const { return gpu_; }

  /// What the GPU's kernel has left there, gaps included, against what the CPU's has.
  /// @param tolerance of the relative error, by Euclidean norms; 0: every bit is equal
  void check_equal(double tolerance = 0) const {
    const Storage left = left_by_gpu();
    if (tolerance > 0)
      CHECK(relative_error(left.values(), host_->values()) <= tolerance);
    else
      CHECK((left.bytes() == host_->bytes()));
  }
  /// The relative error of what the GPU has left here against what it has left in the other, by Euclidean norms.
  double error_on_gpu(const Mirror& other) const {
    return relative_error(left_by_gpu().values(), other.left_by_gpu().values());
  }
  /// By how much what the GPU has left here is longer than what it has left in the other, along that: 1 where sums are
  /// right but for errors without a direction.
  double slope_on_gpu(const Mirror& other) const {
    const Values here = left_by_gpu().values(), there = other.left_by_gpu().values();
    return std::inner_product(here.begin(), here.end(), there.begin(), 0.0) /
           std::inner_product(there.begin(), there.end(), there.begin(), 0.0);
  }
  /// Whether the GPU has left the same bytes in both.
  bool same_on_gpu(const Mirror& other) const { return left_by_gpu().bytes() == other.left_by_gpu().bytes(); }

 private:
  Storage left_by_gpu() const {
    HostBuffer buffer;
    Storage left(*host_);
    const View copied = cuda::copy_to_host({}, whole(gpu_.data), buffer);
    std::memcpy(left.view().data, copied.data, buffer.size());
    return left;
  }
  View whole(std::byte* begin) const {
    return {begin, DType::bf16, {1, std::ssize(host_->bytes()) / size_of(DType::bf16)}};
  }
  std::shared_ptr<Storage> host_;
  std::shared_ptr<std::byte> memory_;
  View gpu_;
};

/// Numbers of a step or an update, which kernels read and change by an address.
template <class T> class MirrorOf {
 public:
  explicit MirrorOf(const T& value) : host_(value), words_(filled(1, n_words, 0), DType::fp64) {
    cuda::copy_from_host({}, words(&host_), words_.on(cuda::Queue{}));
  }
  T* on(cpu::Queue) { return &host_; }
  T* on(cuda::Queue queue) { return words_.on(queue).template as<T>(); }
  T& cpu() { return host_; }
  T gpu() const {
    HostBuffer buffer;
    return *cuda::copy_to_host({}, words_.on(cuda::Queue{}), buffer).template as<T>();
  }

 private:
  static constexpr std::int64_t n_words = (sizeof(T) + 7) / 8;
  static View words(T* value) { return {reinterpret_cast<std::byte*>(value), DType::fp64, {1, n_words}}; }
  T host_;
  Mirror words_;
};

/// Calls f(queue) with the queue of each, and waits. The CPU fuses no product with a sum, as GPUs do not.
template <class F> void on_both(F f) {
  {
    const GenericArithmetic arithmetic;
    f(cpu::Queue{});
  }
  f(cuda::Queue{});
  synchronize(cuda::Queue{});
}

}  // namespace monomorph::testing
