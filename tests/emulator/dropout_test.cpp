#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>

namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, cols;
};
/// Less than a pack, groups of 64 features and parts of them, rows of several blocks.
constexpr Size sizes[] = {{1, 1}, {3, 7}, {5, 64}, {2, 72}, {4, 100}, {3, 768}, {2, 5000}, {300, 24}};

}  // namespace

TEST_CASE("a GPU drops what the CPU drops, with its bits, in its input's place or another", "[dropout]") {
  for (const DType dtype : all_dtypes)
    for (const Size size : sizes)
      for (const std::int64_t gap : {0, 16, 5})
        for (const double rate : {0.0, 0.1, 0.5}) {
          CAPTURE(name_of(dtype), size.rows, size.cols, gap, rate);
          const DropoutKey key{.seed = 3,
                               .step = (std::uint64_t{1} << 33) + 5,
                               .first_sample = (std::uint64_t{1} << 35) + 7,
                               .layer = 2,
                               .site = 1,
                               .tokens_per_sample = 2,
                               .rate = rate};
          check_same_bits(
              random_storages(size.rows, size.cols, dtype, gap, {1, 2}),
              random_storages(size.rows, size.cols, dtype, gap, {3, 4, 5}),
              [&](const auto& in, const auto& out) {
                cuda::dropout(gpu_queue, in[0], out[0], key);
                cuda::dropout(gpu_queue, out[1], out[1], key);
                cuda::dropout_add(gpu_queue, out[2], in[1], out[2], key);
              },
              [&](const auto& in, const auto& out) {
                cpu::dropout({}, in[0], out[0], key);
                cpu::dropout({}, out[1], out[1], key);
                cpu::dropout_add({}, out[2], in[1], out[2], key);
              });
        }
}

TEST_CASE("a GPU drops nothing of a view that is not there", "[dropout]") {
  const Storage there(filled(1, 4, 1), DType::fp32);
  const View view = writable(there);
  CHECK(starts_kernel([&] { cuda::dropout(gpu_queue, view, view, {}); }));
  CHECK(starts_kernel([&] { cuda::dropout_add(gpu_queue, view, view, view, {}); }));
  CHECK_FALSE(starts_kernel([] { cuda::dropout(gpu_queue, View{}, View{}, {}); }));
  CHECK_FALSE(starts_kernel([] { cuda::dropout_add(gpu_queue, View{}, View{}, View{}, {}); }));
}

}  // namespace monomorph::emulator
