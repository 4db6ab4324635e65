#include "runtime/cuda/sums/column_sums.hpp"
#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

namespace monomorph::emulator {

using namespace monomorph::testing;

TEST_CASE("sums of columns are those of fp64, in the same bits in every schedule", "[column_sums]") {
  struct Size {
    std::int64_t rows, cols;
  };
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for (const Size size : {Size{1, 1}, Size{7, 61}, Size{300, 64}, Size{200, 520}})
      for (const std::int64_t gap : {0, 16, 5})
        for (const bool accumulate : {false, true}) {
          CAPTURE(name_of(dtype), size.rows, size.cols, gap, accumulate);
          const Storage x(random_matrix(size.rows, size.cols, 1), dtype, gap);
          const Storage before(random_matrix(1, size.cols, 2), statistics_dtype(dtype));
          Values expected = accumulate ? before.values() : Values(static_cast<std::size_t>(size.cols), 0.0);
          const Values values = x.values();
          for (std::size_t i = 0; i < values.size(); ++i) expected[i % expected.size()] += values[i];
          std::vector<std::byte> first;
          for_each_schedule([&] {
            const Storage sums(before);
            cuda::column_sums({}, x.view(), sums.view(), accumulate);
            CHECK(relative_error(sums.values(), expected) <= (dtype == DType::fp64 ? 1e-14 : 1e-6));
            if (first.empty()) first = sums.bytes();
            CHECK((sums.bytes() == first));
          });
        }
}

}  // namespace monomorph::emulator
