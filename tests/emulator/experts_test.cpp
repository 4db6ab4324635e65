#include "emulator/mixture_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/expert_products.hpp>
#include <monomorph/runtime/kernels/linear.hpp>

#include "runtime/cuda/products/mixed_products.hpp"
#include "support/rounded_sums.hpp"

#include <cmath>
#include <limits>

namespace monomorph::emulator {
namespace {

struct Case {
  const MixtureSize& size;
  DType dtype;
  std::int64_t gap;
};
void for_each_case(const std::function<void(const Case&)>& f) {
  for (const MixtureSize& size : mixture_sizes)
    for (const DType dtype : all_dtypes)
      for (const std::int64_t gap : {0, 5}) {
        CAPTURE(size.tokens, size.n_experts, size.top_k, size.capacity, name_of(dtype), gap);
        f({size, dtype, gap});
      }
}

/// Rows of pairs of which those that a routing does not have are NaN.
Storage rows_of(const Case& of, const Routed& routed, std::int64_t columns, unsigned seed) {
  Matrix rows = random_matrix(routed.capacity(), columns, seed);
  std::fill(rows.values.begin() + routed.n_rows() * columns, rows.values.end(), std::nan(""));
  return {rows, of.dtype, of.gap};
}

/// What a kernel leaves in the first of some storages, on a CPU and in each schedule on a GPU. What lies behind the
/// rows that there are, and between rows, is as before.
void check_rows(const std::vector<Storage>& before, std::int64_t n_rows, double tolerance, const auto& kernel) {
  const auto run = [&](auto queue) {
    std::vector<Storage> after(before);
    kernel(queue, views_of(after));
    return after;
  };
  const std::vector<Storage> expected = run(cpu_queue);
  const auto first_rows = [&](const Storage& storage) {
    const Values values = values_of(storage);
    return Values(values.begin(), values.begin() + n_rows * storage.view().shape.cols);
  };
  for_each_schedule([&] {
    const std::vector<Storage> actual = run(gpu_queue);
    for (std::size_t i = 0; i < actual.size(); ++i) {
      CAPTURE(i);
      CHECK(relative_error(first_rows(actual[i]), first_rows(expected[i])) <= tolerance);
      const auto behind =
          static_cast<std::ptrdiff_t>(n_rows * before[i].view().stride * size_of(before[i].view().dtype));
      CHECK(
          std::equal(actual[i].bytes().begin() + behind, actual[i].bytes().end(), before[i].bytes().begin() + behind));
      CHECK((before[i].view().contiguous() || actual[i].gap_untouched()));
    }
  });
}

}  // namespace

TEST_CASE("rows are gathered and added up with the bits of the CPU", "[experts]") {
  for_each_case([](const Case& of) {
    for (const std::int64_t columns : {1, 24, 61}) {
      Routed routed = Routed::sorted(of.size, statistics_dtype(of.dtype));
      const Routing routing = routed.routing();
      const Storage x(random_matrix(of.size.tokens, columns, 1), of.dtype, of.gap);
      check_same_bits(
          {x}, {Storage(filled(routed.capacity(), columns, 7), of.dtype, of.gap)},
          [&](const auto& in, const auto& out) { cuda::gather_rows(gpu_queue, in[0], routing, out[0]); },
          [&](const auto& in, const auto& out) { cpu::gather_rows(cpu_queue, in[0], routing, out[0]); });
      for (const bool weighed : {false, true})
        for (const bool added : {false, true}) {
          const View weights = weighed ? routing.weights_Mk : View{};
          check_same_bits(
              {rows_of(of, routed, columns, 2)}, {x},
              [&](const auto& in, const auto& out) {
                cuda::combine_rows(gpu_queue, in[0], routing, weights, added ? out[0] : View{}, out[0]);
              },
              [&](const auto& in, const auto& out) {
                cpu::combine_rows(cpu_queue, in[0], routing, weights, added ? out[0] : View{}, out[0]);
              });
        }
    }
  });
}

TEST_CASE("rows are weighed, and weights have their gradients, as on a CPU", "[experts]") {
  for_each_case([](const Case& of) {
    for (const std::int64_t columns : {1, 24, 300}) {
      const Routed sorted = Routed::sorted(of.size, statistics_dtype(of.dtype));
      const std::vector<Storage> rows{rows_of(of, sorted, columns, 2), rows_of(of, sorted, columns, 3)};
      Routed expected = sorted;
      {
        std::vector<Storage> after(rows);
        cpu::weigh_rows_backward(cpu_queue, writable(after[0]), writable(after[1]), expected.routing());
      }
      check_rows(rows, sorted.n_rows(), tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
        Routed actual = sorted;
        weigh_rows_backward(queue, views[0], views[1], actual.routing());
        CHECK(relative_error(actual.weights(), expected.weights()) <= 20 * sum_tolerance(statistics_dtype(of.dtype)));
      });
    }
  });
}

TEST_CASE("activations of the rows that a routing has are the CPU's", "[experts]") {
  for_each_case([](const Case& of) {
    constexpr std::int64_t features = 24;
    Routed routed = Routed::sorted(of.size, statistics_dtype(of.dtype));
    for (const Activation activation : {Activation::gelu_exact, Activation::gelu_tanh, Activation::relu_squared,
                                        Activation::swiglu, Activation::geglu_exact, Activation::geglu_tanh}) {
      CAPTURE(static_cast<int>(activation));
      const std::int64_t width = is_gated(activation) ? 2 * features : features;
      const std::vector<Storage> rows{rows_of(of, routed, width, 2), rows_of(of, routed, features, 3)};
      check_rows(rows, routed.n_rows(), tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
        activate_rows(queue, activation, views[0], views[1], routed.routing());
      });
      check_rows(rows, routed.n_rows(), tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
        activate_rows_backward(queue, activation, views[0], views[1], routed.routing());
      });
    }
  });
}

TEST_CASE("products of experts are the CPU's", "[experts]") {
  struct Widths {
    std::int64_t features, hidden;
  };
  for_each_case([](const Case& of) {
    for (const Widths width : {Widths{1, 3}, {24, 66}})
      for (const int n : {1, 2}) {
        CAPTURE(width.features, width.hidden, n);
        Routed routed = Routed::sorted(of.size, statistics_dtype(of.dtype));
        const std::int64_t rows = of.size.n_experts * width.hidden;
        const Storage w[] = {Storage(random_matrix(rows, width.features, 8), of.dtype, of.gap),
                             Storage(random_matrix(rows, width.features, 9), of.dtype, of.gap)};
        const ExpertMatrices matrices{{writable(w[0]), writable(w[1])}, n};
        const Storage x = rows_of(of, routed, width.features, 2), y = rows_of(of, routed, n * width.hidden, 3);
        check_rows({y}, routed.n_rows(), tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
          expert_linear(queue, writable(x), matrices, views[0], routed.routing());
        });
        check_rows({x}, routed.n_rows(), 2 * tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
          expert_linear_backward_input(queue, writable(y), matrices, views[0], routed.routing());
        });
      }
  });
}

TEST_CASE("gradients of experts' matrices are the CPU's, zeros of those without rows included", "[experts]") {
  for_each_case([](const Case& of) {
    constexpr std::int64_t features = 70, hidden = 24;
    Routed routed = Routed::sorted(of.size, statistics_dtype(of.dtype));
    for (const DType gradient : {of.dtype, statistics_dtype(of.dtype)})
      for (const int n : {1, 2}) {
        const bool accumulate = n == 2;
        CAPTURE(name_of(gradient), n);
        const std::int64_t rows = of.size.n_experts * hidden;
        const Matrix before = accumulate ? random_matrix(rows, features, 9) : filled(rows, features, std::nan(""));
        const std::vector<Storage> dw(static_cast<std::size_t>(n), Storage(before, gradient, of.gap));
        const Storage x = rows_of(of, routed, features, 2), dy = rows_of(of, routed, n * hidden, 3);
        check_rows(dw, rows, tolerance(gradient), [&](auto queue, const std::vector<View>& views) {
          expert_linear_backward_weight(queue, writable(dy), writable(x), {{views[0], views.back()}, n},
                                        routed.routing(), accumulate);
        });
      }
  });
}

TEST_CASE("of two matrices of experts one may be frozen", "[experts]") {
  for_each_case([](const Case& of) {
    constexpr std::int64_t features = 70, hidden = 24;
    Routed routed = Routed::sorted(of.size, statistics_dtype(of.dtype));
    const std::int64_t rows = of.size.n_experts * hidden;
    const Storage x = rows_of(of, routed, features, 2), dy = rows_of(of, routed, 2 * hidden, 3);
    for (const int trained : {0, 1}) {
      CAPTURE(trained);
      const Storage dw(filled(rows, features, std::nan("")), of.dtype, of.gap);
      check_rows({dw}, rows, tolerance(of.dtype), [&](auto queue, const std::vector<View>& views) {
        ExpertMatrices matrices{{}, 2};
        matrices.parts_EFxK[trained] = views[0];
        expert_linear_backward_weight(queue, writable(dy), writable(x), matrices, routed.routing(), false);
      });
    }
  });
}

TEST_CASE("a frozen unit's experts have no gradients", "[experts]") {
  Routed routed = Routed::sorted({37, 5, 2, 37}, DType::fp32);
  const Storage x(random_matrix(74, 8, 1), DType::fp32);
  CHECK_FALSE(starts_kernel(
      [&] { cuda::expert_linear_backward_weight(gpu_queue, writable(x), writable(x), {}, routed.routing(), false); }));
}

TEST_CASE("experts refuse dtypes that they have no product of", "[experts]") {
  Routed routed = Routed::sorted({37, 5, 2, 37}, DType::fp32);
  const Storage x(random_matrix(74, 8, 1), DType::fp32), narrow(random_matrix(74, 8, 1), DType::bf16),
      w(random_matrix(40, 8, 1), DType::bf16);
  const ExpertMatrices matrices{{writable(w)}};
  CHECK_THROWS_AS(cuda::expert_linear(gpu_queue, writable(x), matrices, writable(x), routed.routing()),
                  std::logic_error);
  CHECK_THROWS_AS(cuda::expert_linear_backward_input(gpu_queue, writable(x), matrices, writable(x), routed.routing()),
                  std::logic_error);
  CHECK_THROWS_AS(cuda::expert_linear_backward_weight(gpu_queue, writable(x), writable(narrow), matrices,
                                                      routed.routing(), false),
                  std::logic_error);
  CHECK_THROWS_AS(cuda::gather_rows(gpu_queue, writable(x), routed.routing(), writable(narrow)), std::logic_error);
  CHECK_THROWS_AS(cuda::combine_rows(gpu_queue, writable(x), routed.routing(), View{}, View{}, writable(narrow)),
                  std::logic_error);
  CHECK_THROWS_AS(cuda::weigh_rows_backward(gpu_queue, writable(x), writable(narrow), routed.routing()),
                  std::logic_error);
}

TEST_CASE("gradients of a router, of factors of two dtypes, are the CPU's", "[experts]") {
  for (const DType dtype : {DType::bf16, DType::fp16})
    for (const std::int64_t gap : {0, 5})
      for (const std::int64_t tokens : {1, 300})
        for (const std::int64_t n_experts : {3, 8, 70})
          for (const bool accumulate : {false, true}) {
            CAPTURE(name_of(dtype), gap, tokens, n_experts, accumulate);
            constexpr std::int64_t features = 72;
            const Storage dy(random_matrix(tokens, n_experts, 1), DType::fp32),
                w(random_matrix(n_experts, features, 2), dtype, gap), x(random_matrix(tokens, features, 3), dtype, gap);
            check_rows({Storage(random_matrix(tokens, features, 4), dtype, gap)}, tokens, tolerance(dtype),
                       [&](auto queue, const std::vector<View>& views) {
                         if constexpr (std::is_same_v<decltype(queue), cuda::Queue>)
                           cuda::mixed_backward_input(queue, writable(dy), writable(w), views[0], accumulate);
                         else
                           cpu::linear_backward_input(queue, writable(dy), writable(w), views[0], accumulate);
                       });
            check_rows({Storage(random_matrix(n_experts, features, 4), DType::fp32)}, n_experts,
                       10 * tolerance(DType::fp32), [&](auto queue, const std::vector<View>& views) {
                         if constexpr (std::is_same_v<decltype(queue), cuda::Queue>)
                           cuda::mixed_backward_weight(queue, writable(dy), writable(x), views[0], accumulate);
                         else
                           cpu::linear_backward_weight(queue, writable(dy), writable(x), views[0], View{}, accumulate);
                       });
          }
}

}  // namespace monomorph::emulator
