#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

namespace monomorph::emulator {
namespace {

struct Size {
  std::int64_t rows, heads, half, tokens;
};
/// Halves of heads of less than a pack, of packs, of packs and a rest; more heads than a thread rotates.
constexpr Size sizes[] = {{3, 1, 1, 3},    {6, 2, 3, 3},  {10, 3, 32, 5}, {4, 9, 64, 4},
                          {300, 5, 8, 25}, {2, 2, 50, 1}, {2, 1, 384, 2}, {1, 40, 64, 1}};

/// Columns of a wider matrix, as queries and keys are.
View columns_of(const View& x, std::int64_t n) { return x.columns(0, n); }

void check_case(DType dtype, const Size& size, std::int64_t gap, bool inverse, const std::int32_t* starts) {
  constexpr std::int64_t first_position = 2;
  const auto [rows, heads, half, tokens] = size;
  const std::int64_t cols = heads * 2 * half;
  const DType tables = statistics_dtype(dtype);
  const std::vector<Storage> angles = random_storages(first_position + tokens, half, tables, 0, {1, 2});
  const std::vector<Storage> x{{random_matrix(rows, cols + gap, 3), dtype}};
  check_same_bits(
      angles, x,
      [&](const auto& in, const auto& out) {
        cuda::rotary(gpu_queue, columns_of(out[0], cols), in[0], in[1], tokens, first_position, inverse, starts);
      },
      [&](const auto& in, const auto& out) {
        cpu::rotary({}, columns_of(out[0], cols), in[0], in[1], tokens, first_position, inverse, starts);
      });
}

}  // namespace

TEST_CASE("a GPU rotates heads with the CPU's bits", "[rotary]") {
  for (const DType dtype : all_dtypes)
    for (const Size& size : sizes)
      for (const std::int64_t gap : {0, 16, 5})
        for (const bool inverse : {false, true})
          for (const bool documents : {false, true}) {
            CAPTURE(name_of(dtype), size.rows, size.heads, size.half, gap, inverse, documents);
            const auto starts = growing_documents(size.rows, size.tokens);
            check_case(dtype, size, gap, inverse, documents ? starts.data() : nullptr);
          }
}

TEST_CASE("a GPU rotates nothing of a view that is not there", "[rotary]") {
  const Storage angles(filled(1, 4, 1), DType::fp32);
  const Storage there(filled(1, 8, 1), DType::fp32);
  const auto rotate = [&](const View& x) {
    return [&, x] { cuda::rotary(gpu_queue, x, angles.view(), angles.view(), 1, 0, false); };
  };
  CHECK(starts_kernel(rotate(writable(there))));
  CHECK_FALSE(starts_kernel(rotate(View{})));
}

}  // namespace monomorph::emulator
