#include <monomorph/runtime/kernels/routing.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

// That routing and its gradients are those of autograd, with every option, is in numerics/block_order_test.cpp.
namespace routing_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

constexpr cpu::Queue queue{};

/// A routing of its own memory, in fp32.
struct Routed {
  std::int64_t M, E, k;
  std::vector<float> scores, weights, lse;
  std::vector<std::int32_t> experts, rows, pairs, counts, begins;

  Routed(std::int64_t tokens, std::int64_t n_experts, std::int64_t top_k)
      : M(tokens),
        E(n_experts),
        k(top_k),
        scores(M * E),
        weights(M * k),
        lse(M),
        experts(M * k),
        rows(M * k),
        pairs(M * k),
        counts(E),
        begins(E + 1) {}
  static View view(std::vector<float>& values, std::int64_t columns) {
    return {reinterpret_cast<std::byte*>(values.data()), DType::fp32, {std::ssize(values) / columns, columns}};
  }
  Routing routing() {
    return {view(scores, E),
            view(weights, k),
            view(lse, 1),
            experts.data(),
            rows.data(),
            pairs.data(),
            counts.data(),
            begins.data(),
            M,
            E,
            k};
  }
  void choose(RouterScores by = RouterScores::softmax, View bias = {}) {
    cpu::choose_experts(queue, routing(), by, true, bias);
  }
};

Routed random_logits(std::int64_t M, std::int64_t E, std::int64_t k) {
  Routed routed(M, E, k);
  const Matrix logits = random_matrix(M, E, 5);
  std::ranges::copy(logits.values, routed.scores.begin());
  return routed;
}

}  // namespace

TEST_CASE("of experts with equal scores the first are chosen", "[routing]") {
  Routed routed(2, 5, 3);
  routed.scores = {1, 1, 1, 1, 1, 0, 2, 1, 2, 1};
  routed.choose();
  CHECK(routed.experts == std::vector<std::int32_t>{0, 1, 2, 1, 3, 2});
  CHECK(routed.weights[0] == Approx(1.0 / 3));
}

TEST_CASE("biases choose, and do not weigh", "[routing]") {
  Routed routed(1, 3, 1);
  routed.scores = {2, 1, 0};
  std::vector<float> bias{0, 0, 5};
  cpu::choose_experts(queue, routed.routing(), RouterScores::sigmoid, false, Routed::view(bias, 3));
  CHECK(routed.experts[0] == 2);
  CHECK(routed.weights[0] == Approx(0.5));
}

TEST_CASE("scores that are no numbers choose experts that there are", "[routing]") {
  Routed routed(1, 4, 2);
  std::ranges::fill(routed.scores, std::nanf(""));
  routed.choose();
  CHECK(routed.experts == std::vector<std::int32_t>{0, 1});
}

TEST_CASE("pairs are sorted by expert and keep their order", "[routing]") {
  Routed routed(3, 4, 2);
  routed.experts = {2, 0, 2, 3, 0, 2};
  cpu::sort_pairs(queue, routed.routing(), 6);
  CHECK(routed.counts == std::vector<std::int32_t>{2, 0, 3, 1});
  CHECK(routed.begins == std::vector<std::int32_t>{0, 2, 2, 5, 6});
  CHECK(routed.pairs == std::vector<std::int32_t>{1, 4, 0, 2, 5, 3});
  CHECK(routed.rows == std::vector<std::int32_t>{2, 0, 3, 5, 1, 4});
}

TEST_CASE("an expert that is full takes the first of its pairs", "[routing]") {
  Routed routed(3, 4, 2);
  routed.experts = {2, 0, 2, 3, 0, 2};
  cpu::sort_pairs(queue, routed.routing(), 1);
  CHECK(routed.counts == std::vector<std::int32_t>{2, 0, 3, 1});
  CHECK(routed.begins == std::vector<std::int32_t>{0, 1, 1, 2, 3});
  CHECK(routed.rows == std::vector<std::int32_t>{1, 0, -1, 2, -1, -1});
}

TEST_CASE("no bit of a routing depends on the number of threads", "[routing]") {
  const auto run = [](int threads) {
    Routed routed = random_logits(1000, 7, 3);
    with_threads(threads, [&] {
      routed.choose(RouterScores::sigmoid);
      cpu::sort_pairs(queue, routed.routing(), 300);
      StepScalars scalars;
      scalars.micro_batch.tokens = 17;
      cpu::choose_experts_backward(queue, routed.routing(), RouterScores::sigmoid, true, {0.1, 0}, &scalars);
    });
    return std::tuple(routed.scores, routed.weights, routed.experts, routed.rows, routed.begins);
  };
  const auto one = run(1);
  CHECK((run(2) == one));
  CHECK((run(3) == one));
}

TEST_CASE("rows are gathered by pair and added up by token, in every dtype", "[routing]") {
  constexpr std::int64_t M = 37, D = 600, E = 5, k = 2;
  Routed routed = random_logits(M, E, k);
  routed.choose();
  cpu::sort_pairs(queue, routed.routing(), 12);
  const Matrix x = random_matrix(M, D, 1);
  Values expected;  // each row of a token is the token's
  for (std::int64_t m = 0; m < M; ++m) {
    double weight = 1;  // with the residual
    for (std::int64_t j = 0; j < k; ++j)
      if (routed.rows[m * k + j] >= 0) weight += routed.weights[m * k + j];
    for (std::int64_t d = 0; d < D; ++d) expected.push_back(weight * x.values[m * D + d]);
  }
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16})
    for_each_isa([&](const char* isa) {
      CAPTURE(isa, name_of(dtype));
      const Storage in(x, dtype, 3), rows(shape_only(M * k, D), dtype), out(shape_only(M, D), dtype, 5);
      cpu::gather_rows(queue, in.view(), routed.routing(), rows.view());
      cpu::combine_rows(queue, rows.view(), routed.routing(), routed.routing().weights_Mk, in.view(), out.view());
      CHECK(relative_error(out.values(), expected) < (dtype == DType::fp32   ? 1e-6
                                                      : dtype == DType::bf16 ? 4e-3
                                                                             : 5e-4));
      CHECK(out.gap_untouched());
    });
}

TEST_CASE("biases move by the sign of what their expert lacks of the mean, however small", "[routing]") {
  std::vector<float> gradient(64, 3), master(64, 0);
  const std::int64_t big = std::int64_t{1} << 40;
  const std::vector<std::int64_t> loads{big, big + 1, big - 1, big};
  const ElementUpdate run{.gradient = Routed::view(gradient, 64), .master = Routed::view(master, 64), .first = 128};
  UpdateDecision decision{.applies = false};
  const auto balance = [&] { cpu::balance_biases(queue, run, 128, loads.data(), 4, 0.5, {.decision = &decision}); };
  balance();
  CHECK(master == std::vector<float>(64, 0));
  decision.applies = true;
  balance();
  CHECK(std::vector<float>(master.begin(), master.begin() + 5) == std::vector<float>{0, -0.5, 0.5, 0, 0});
  CHECK(std::accumulate(master.begin() + 5, master.end(), 0.0F) == 0);
}

}  // namespace routing_test
