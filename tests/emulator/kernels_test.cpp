#include <monomorph/runtime/cuda/kernels.hpp>
#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

#include <functional>
#include <vector>

namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;

constexpr DType dtypes[] = {DType::fp32, DType::bf16, DType::fp64, DType::fp16};
const cuda::Queue on_gpu;
constexpr cpu::Queue on_cpu{};

/// Rows and columns: none, one, less than a pack, packs and a rest, several blocks.
struct Size {
  std::int64_t rows, cols;
};
constexpr Size sizes[] = {{0, 8}, {1, 1}, {1, 7}, {3, 64}, {5, 61}, {2, 4099}, {700, 24}};
/// Elements between rows: none, so many that rows begin as packs do, and so few that they do not.
constexpr std::int64_t gaps[] = {0, 16, 5};

using Kernel = std::function<void(const std::vector<View>& in, View out)>;

std::vector<View> views_of(const std::vector<Storage>& inputs) {
  std::vector<View> views;
  for (const Storage& input : inputs) views.push_back(input.view());
  return views;
}

/// The kernel's output has the bits, gaps included, of the CPU's kernel, in every schedule.
void check_bits(const std::vector<Storage>& inputs, const Storage& before, const Kernel& gpu, const Kernel& cpu) {
  const std::vector<View> views = views_of(inputs);
  Storage expected(before);
  cpu(views, View(const_cast<std::byte*>(expected.bytes().data()), before.view().dtype, before.view().shape,
                  before.view().stride));
  for_each_schedule([&] {
    Storage actual(before);
    gpu(views, View(const_cast<std::byte*>(actual.bytes().data()), before.view().dtype, before.view().shape,
                    before.view().stride));
    CHECK((actual.bytes() == expected.bytes()));
  });
}

void for_each_layout(const std::function<void(Size size, std::int64_t gap)>& f) {
  for (const Size size : sizes)
    for (const std::int64_t gap : gaps) {
      CAPTURE(size.rows, size.cols, gap);
      f(size, gap);
    }
}

}  // namespace

TEST_CASE("copy converts between all dtypes with the bits of the CPU", "[elementwise]") {
  for (const DType from : dtypes)
    for (const DType to : dtypes)
      for_each_layout([&](Size size, std::int64_t gap) {
        CAPTURE(name_of(from), name_of(to));
        check_bits(
            {Storage(random_matrix(size.rows, size.cols, 1), from, gap)},
            Storage(filled(size.rows, size.cols, 7), to, gap),
            [](const auto& in, View out) { cuda::copy(on_gpu, in[0], out); },
            [](const auto& in, View out) { cpu::copy(on_cpu, in[0], out); });
      });
}

TEST_CASE("add has the bits of the CPU", "[elementwise]") {
  for (const DType x : dtypes)
    for (const DType y : dtypes)
      for_each_layout([&](Size size, std::int64_t gap) {
        CAPTURE(name_of(x), name_of(y));
        check_bits(
            {Storage(random_matrix(size.rows, size.cols, 1), x, gap)},
            Storage(random_matrix(size.rows, size.cols, 2), y, gap),
            [](const auto& in, View out) { cuda::add(on_gpu, in[0], out); },
            [](const auto& in, View out) { cpu::add(on_cpu, in[0], out); });
      });
}

TEST_CASE("zero writes zeros between gaps", "[elementwise]") {
  for (const DType dtype : dtypes)
    for_each_layout([&](Size size, std::int64_t gap) {
      CAPTURE(name_of(dtype));
      check_bits(
          {}, Storage(random_matrix(size.rows, size.cols, 1), dtype, gap),
          [](const auto&, View out) { cuda::zero(on_gpu, out); },
          [](const auto&, View out) { cpu::zero(on_cpu, out); });
    });
}

TEST_CASE("relu_squared and its gradient have the bits of the CPU", "[activation]") {
  for (const DType dtype : dtypes)
    for_each_layout([&](Size size, std::int64_t gap) {
      CAPTURE(name_of(dtype));
      std::vector<Storage> inputs;
      for (const unsigned seed : {1u, 2u}) inputs.emplace_back(random_matrix(size.rows, size.cols, seed), dtype, gap);
      const Storage before(random_matrix(size.rows, size.cols, 3), dtype, gap);
      check_bits(
          inputs, before, [](const auto& in, View out) { cuda::relu_squared(on_gpu, in[0], out); },
          [](const auto& in, View out) { cpu::relu_squared(on_cpu, in[0], out); });
      check_bits(
          inputs, before, [](const auto& in, View out) { cuda::relu_squared_backward(on_gpu, in[0], in[1], out); },
          [](const auto& in, View out) { cpu::relu_squared_backward(on_cpu, in[0], in[1], out); });
      check_bits(
          inputs, before, [](const auto& in, View out) { cuda::relu_squared_backward(on_gpu, in[0], out, out); },
          [](const auto& in, View out) { cpu::relu_squared_backward(on_cpu, in[0], out, out); });
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
          check_bits(
              terms, Storage(random_matrix(1, n + 1, 99), dtype.sum),
              [&](const auto& in, View out) { add_up([](auto... x) { cuda::pairwise_sum(on_gpu, x...); }, in, out); },
              [&](const auto& in, View out) { add_up([](auto... x) { cpu::pairwise_sum(on_cpu, x...); }, in, out); });
        }
}

TEST_CASE("a GPU adds up the most terms that it may have", "[pairwise_sum]") {
  std::vector<Storage> terms;
  for (unsigned i = 0; i < 2048; ++i) terms.emplace_back(random_matrix(1, 9, i), DType::bf16);
  check_bits(
      terms, Storage(random_matrix(1, 9, 2), DType::fp32),
      [](const auto& in, View out) { cuda::pairwise_sum(on_gpu, in, out, false); },
      [](const auto& in, View out) { cpu::pairwise_sum(on_cpu, in, out, false); });
}

}  // namespace monomorph::emulator
