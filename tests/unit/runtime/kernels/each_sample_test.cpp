#include <array>
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>
#include "kernel_case.hpp"
#include "out_of_tree/margin_pairs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace each_sample_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

constexpr std::int64_t pairs = 9, width = 5;

/// Embeddings of pairs, with a mark behind each: the second text of pair 4 is missing.
Matrix marked_texts() {
  Matrix all = random_matrix(2 * pairs, width + 1, 1);
  for (std::int64_t row = 0; row < all.rows; ++row)
    all.values[static_cast<std::size_t>(row * (width + 1) + width)] = row == 2 * 4 + 1 ? 0 : 1;
  return all;
}

/// The gradients of the pairs of one rank, and what it adds up.
struct OfRank {
  Values gradient;
  LossSum sum;
};
OfRank of_rank(std::int64_t first, std::int64_t n, DType dtype, double scale = 1) {
  const Storage all(marked_texts(), dtype), gradient(filled(2 * n, width, 7), dtype),
      workspace(filled(1, 2 * n, 7), dtype);
  LossSum sum;
  const TextEmbeddings embeddings{.all = all.view(),
                                  .texts = 2,
                                  .first = first,
                                  .n = n,
                                  .gradient_RE = gradient.view(),
                                  .workspace = workspace.view(),
                                  .scale = &scale,
                                  .sum = &sum};
  stranger::MarginPairs::loss(cpu::Queue{}, embeddings, {});
  return {gradient.values(), sum};
}

}  // namespace

TEST_CASE("ranks that have a part of the samples make the gradients that one makes of all", "[each_sample]") {
  const OfRank one = of_rank(0, pairs, DType::fp64);
  CHECK(one.sum.tokens == pairs - 1);
  Values joined;
  LossSum sum;
  for (const auto& [first, n] : {std::pair{0, 2}, {2, 4}, {6, 3}}) {
    const OfRank part = of_rank(first, n, DType::fp64);
    joined.insert(joined.end(), part.gradient.begin(), part.gradient.end());
    sum.add(part.sum);
  }
  CHECK(joined == one.gradient);
  CHECK(sum.tokens == one.sum.tokens);
  CHECK(sum.loss == Approx(one.sum.loss).epsilon(1e-14));
  CHECK(sum.metrics == one.sum.metrics);
}

TEST_CASE("a sample that lacks a text has no gradient and does not count", "[each_sample]") {
  const OfRank one = of_rank(0, pairs, DType::fp64), alone = of_rank(4, 1, DType::fp64);
  CHECK(alone.gradient == Values(2 * width, 0));
  CHECK(alone.sum.tokens == 0);
  CHECK(Values(one.gradient.begin() + 8 * width, one.gradient.begin() + 10 * width) == alone.gradient);
}

TEST_CASE("samples are computed in fp32 as in fp64, with a scale, and with any number of threads to the same bits",
          "[each_sample]") {
  const OfRank exact = of_rank(0, pairs, DType::fp64), narrow = of_rank(0, pairs, DType::fp32);
  CHECK(relative_error(narrow.gradient, exact.gradient) < 1e-6);
  CHECK(narrow.sum.loss == Approx(exact.sum.loss).epsilon(1e-6));
  Values doubled = exact.gradient;
  for (double& value : doubled) value *= 8;
  CHECK(of_rank(0, pairs, DType::fp64, 8).gradient == doubled);
  for (const int threads : {1, 2, 3})
    with_threads(threads, [&] {
      const OfRank again = of_rank(0, pairs, DType::fp32);
      CHECK(again.gradient == narrow.gradient);
      CHECK(again.sum.loss == narrow.sum.loss);
    });
}

TEST_CASE("an evaluation makes the same losses without gradients, and a workspace that is too small is refused",
          "[each_sample]") {
  const Storage all(marked_texts(), DType::fp64), workspace(filled(1, 2 * pairs, 7), DType::fp64);
  LossSum sum;
  TextEmbeddings embeddings{.all = all.view(),
                            .texts = 2,
                            .first = 0,
                            .n = pairs,
                            .gradient_RE = {},
                            .workspace = workspace.view(),
                            .sum = &sum};
  stranger::MarginPairs::loss(cpu::Queue{}, embeddings, {});
  CHECK(sum.loss == of_rank(0, pairs, DType::fp64).sum.loss);
  embeddings.workspace = workspace.view().columns(0, 2 * pairs - 1);
  CHECK(contains(error_of([&] { stranger::MarginPairs::loss(cpu::Queue{}, embeddings, {}); }),
                 "[KERNEL-06] the objective's workspace has 17 elements for 9 samples, and their losses and metrics "
                 "need 18"));
}

}  // namespace each_sample_test
