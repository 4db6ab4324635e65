#pragma once
#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "support/generic_arithmetic.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <functional>
#include <vector>

/// What tests of kernels for GPUs share: the CPU's kernels say what they should give.
namespace monomorph::emulator {

using namespace monomorph::testing;

constexpr DType all_dtypes[] = {DType::fp32, DType::bf16, DType::fp64, DType::fp16};
inline const cuda::Queue gpu_queue;
inline constexpr cpu::Queue cpu_queue{};

/// A view of it that may be written to.
inline View writable(const Storage& storage) {
  const View& view = storage.view();
  return {const_cast<std::byte*>(storage.bytes().data()), view.dtype, view.shape, view.stride};
}

using KernelCall = std::function<void(const std::vector<View>& in, const std::vector<View>& out)>;

inline std::vector<View> views_of(const std::vector<Storage>& storages) {
  std::vector<View> views;
  for (const Storage& storage : storages) views.push_back(writable(storage));
  return views;
}

/// What a kernel makes of outputs.
inline std::vector<Storage> outputs_of(const KernelCall& kernel, const std::vector<Storage>& inputs,
                                       const std::vector<Storage>& before) {
  std::vector<Storage> outputs(before);
  kernel(views_of(inputs), views_of(outputs));
  return outputs;
}

/// Whether a call starts a kernel, of which the emulator would keep the grid.
inline bool starts_kernel(const std::function<void()>& call) {
  gridDim = dim3(0, 0, 0);
  call();
  return gridDim.count() > 0;
}

using Comparison = std::function<void(const Storage& actual, const Storage& expected)>;

/// Compares each output with the CPU's, in every schedule.
inline void check_outputs(const std::vector<Storage>& inputs, const std::vector<Storage>& before, const KernelCall& gpu,
                          const KernelCall& cpu, const Comparison& compare) {
  std::vector<Storage> expected;
  {
    const GenericArithmetic arithmetic;
    expected = outputs_of(cpu, inputs, before);
  }
  for_each_schedule([&] {
    const std::vector<Storage> actual = outputs_of(gpu, inputs, before);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(i);
      compare(actual[i], expected[i]);
    }
  });
}

/// Gaps included.
inline void have_same_bits(const Storage& actual, const Storage& expected) {
  CHECK((actual.bytes() == expected.bytes()));
}
/// The outputs have the CPU's bits, gaps included, in every schedule.
inline void check_same_bits(const std::vector<Storage>& inputs, const std::vector<Storage>& before,
                            const KernelCall& gpu, const KernelCall& cpu) {
  check_outputs(inputs, before, gpu, cpu, have_same_bits);
}

/// Storages of random matrices of one shape.
inline std::vector<Storage> random_storages(std::int64_t rows, std::int64_t cols, DType dtype, std::int64_t gap,
                                            std::vector<unsigned> seeds) {
  std::vector<Storage> storages;
  for (const unsigned seed : seeds) storages.emplace_back(random_matrix(rows, cols, seed), dtype, gap);
  return storages;
}

/// Of a storage that may be a copy.
inline Values values_of(const Storage& storage) {
  const View from = writable(storage);
  Values values(static_cast<std::size_t>(from.elements()));
  cpu::copy({}, from, {reinterpret_cast<std::byte*>(values.data()), DType::fp64, from.shape});
  return values;
}

}  // namespace monomorph::emulator
