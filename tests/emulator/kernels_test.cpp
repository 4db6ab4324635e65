#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

#include <functional>
#include <vector>

namespace monomorph::emulator {
namespace {

/// Rows and columns: none, one, less than a pack, packs and a rest, several blocks.
struct Size {
  std::int64_t rows, cols;
};
constexpr Size sizes[] = {{0, 8}, {1, 1}, {1, 7}, {3, 64}, {5, 61}, {2, 4099}, {700, 24}};
/// Elements between rows: none, so many that rows begin as packs do, and so few that they do not.
constexpr std::int64_t gaps[] = {0, 16, 5};

void for_each_layout(const std::function<void(Size size, std::int64_t gap)>& f) {
  for (const Size size : sizes)
    for (const std::int64_t gap : gaps) {
      CAPTURE(size.rows, size.cols, gap);
      f(size, gap);
    }
}

}  // namespace

TEST_CASE("copy converts between all dtypes with the bits of the CPU", "[elementwise]") {
  for (const DType from : all_dtypes)
    for (const DType to : all_dtypes)
      for_each_layout([&](Size size, std::int64_t gap) {
        CAPTURE(name_of(from), name_of(to));
        check_same_bits(
            {Storage(random_matrix(size.rows, size.cols, 1), from, gap)},
            {Storage(filled(size.rows, size.cols, 7), to, gap)},
            [](const auto& in, const auto& out) { cuda::copy(gpu_queue, in[0], out[0]); },
            [](const auto& in, const auto& out) { cpu::copy(cpu_queue, in[0], out[0]); });
      });
}

TEST_CASE("add has the bits of the CPU", "[elementwise]") {
  for (const DType x : all_dtypes)
    for (const DType y : all_dtypes)
      for_each_layout([&](Size size, std::int64_t gap) {
        CAPTURE(name_of(x), name_of(y));
        check_same_bits(
            {Storage(random_matrix(size.rows, size.cols, 1), x, gap)},
            {Storage(random_matrix(size.rows, size.cols, 2), y, gap)},
            [](const auto& in, const auto& out) { cuda::add(gpu_queue, in[0], out[0]); },
            [](const auto& in, const auto& out) { cpu::add(cpu_queue, in[0], out[0]); });
      });
}

TEST_CASE("zero writes zeros between gaps", "[elementwise]") {
  for (const DType dtype : all_dtypes)
    for_each_layout([&](Size size, std::int64_t gap) {
      CAPTURE(name_of(dtype));
      check_same_bits(
          {}, {Storage(random_matrix(size.rows, size.cols, 1), dtype, gap)},
          [](const auto&, const auto& out) { cuda::zero(gpu_queue, out[0]); },
          [](const auto&, const auto& out) { cpu::zero(cpu_queue, out[0]); });
    });
}

TEST_CASE("relu_squared and its gradient have the bits of the CPU", "[activation]") {
  for (const DType dtype : all_dtypes)
    for_each_layout([&](Size size, std::int64_t gap) {
      CAPTURE(name_of(dtype));
      const std::vector<Storage> inputs = random_storages(size.rows, size.cols, dtype, gap, {1, 2});
      const std::vector<Storage> before = random_storages(size.rows, size.cols, dtype, gap, {3});
      check_same_bits(
          inputs, before, [](const auto& in, const auto& out) { cuda::relu_squared(gpu_queue, in[0], out[0]); },
          [](const auto& in, const auto& out) { cpu::relu_squared(cpu_queue, in[0], out[0]); });
      check_same_bits(
          inputs, before,
          [](const auto& in, const auto& out) { cuda::relu_squared_backward(gpu_queue, in[0], in[1], out[0]); },
          [](const auto& in, const auto& out) { cpu::relu_squared_backward(cpu_queue, in[0], in[1], out[0]); });
      check_same_bits(
          inputs, before,
          [](const auto& in, const auto& out) { cuda::relu_squared_backward(gpu_queue, in[0], out[0], out[0]); },
          [](const auto& in, const auto& out) { cpu::relu_squared_backward(cpu_queue, in[0], out[0], out[0]); });
    });
}

TEST_CASE("a GPU adds up terms with the bits of the CPU", "[pairwise_sum]") {
  struct Dtypes {
    DType sum, terms;
  };
  for (const Dtypes dtype : {Dtypes{DType::fp32, DType::fp32},
                             {DType::fp32, DType::bf16},
                             {DType::fp32, DType::fp16},
                             {DType::fp64, DType::fp64},
                             {DType::bf16, DType::bf16},
                             {DType::fp16, DType::fp16}})
    for (const unsigned n_terms : {1u, 2u, 3u, 8u, 13u, 15u, 16u, 29u})
      for (const std::int64_t n : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64}, std::int64_t{2611}})
        for (const std::int64_t skipped : {0, 1}) {
          CAPTURE(name_of(dtype.sum), name_of(dtype.terms), n_terms, n, skipped);
          std::vector<Storage> terms;  // the last one is the rank's own, in the dtype of the sum
          for (unsigned i = 0; i < n_terms; ++i)
            terms.emplace_back(random_matrix(1, n + 1, i + 1), i + 1 < n_terms ? dtype.terms : dtype.sum);
          const auto add_up = [&](auto pairwise_sum, const std::vector<View>& in, View out) {
            std::vector<View> parts;
            for (const View& part : in) parts.push_back(part.columns(skipped, n));
            pairwise_sum(parts, out.columns(skipped, n), n_terms % 2 == 0);
          };
          check_same_bits(
              terms, {Storage(random_matrix(1, n + 1, 99), dtype.sum)},
              [&](const auto& in, const auto& out) {
                add_up([](auto... x) { cuda::pairwise_sum(gpu_queue, x...); }, in, out[0]);
              },
              [&](const auto& in, const auto& out) {
                add_up([](auto... x) { cpu::pairwise_sum(cpu_queue, x...); }, in, out[0]);
              });
        }
}

TEST_CASE("a GPU adds up the most terms that it may have", "[pairwise_sum]") {
  std::vector<Storage> terms;
  for (unsigned i = 0; i < 2048; ++i) terms.emplace_back(random_matrix(1, 9, i), DType::bf16);
  check_same_bits(
      terms, {Storage(random_matrix(1, 9, 2), DType::fp32)},
      [](const auto& in, const auto& out) { cuda::pairwise_sum(gpu_queue, in, out[0], false); },
      [](const auto& in, const auto& out) { cpu::pairwise_sum(cpu_queue, in, out[0], false); });
}

}  // namespace monomorph::emulator
