#include "emulator/mixture_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include <cmath>
#include <limits>

namespace monomorph::emulator {
namespace {

constexpr RouterScores all_scores[] = {RouterScores::softmax, RouterScores::sigmoid};

void check_near(const Values& actual, const Values& expected, DType dtype) {
  if (!expected.empty()) CHECK(relative_error(actual, expected) <= sum_tolerance(dtype));
}

}  // namespace

TEST_CASE("a router chooses the CPU's experts, with its scores and weights", "[routing]") {
  for_each_mixture([](const MixtureSize& size, DType dtype) {
    for (const RouterScores scores : all_scores)
      for (const bool normalize : {false, true})
        for (const DType of_bias : {DType::fp32, DType::bf16}) {
          CAPTURE(static_cast<int>(scores), normalize, name_of(of_bias));
          const bool has_bias = dtype == DType::fp32;
          const Storage bias(random_matrix(1, size.n_experts, 3), of_bias);
          const View bias_E = has_bias ? bias.view() : View{};
          Routed expected(size, dtype, scores == RouterScores::softmax);
          cpu::choose_experts(cpu_queue, expected.routing(), scores, normalize, bias_E);
          for_each_schedule([&] {
            Routed actual(size, dtype, scores == RouterScores::softmax);
            cuda::choose_experts(gpu_queue, actual.routing(), scores, normalize, bias_E);
            CHECK(actual.experts() == expected.experts());
            check_near(actual.scores(), expected.scores(), dtype);
            check_near(actual.weights(), expected.weights(), dtype);
            if (scores == RouterScores::softmax) check_near(actual.lse(), expected.lse(), dtype);
          });
        }
  });
}

TEST_CASE("a token may go to more experts than a warp has lanes", "[routing]") {
  const MixtureSize size{3, 70, 40, 3};
  Routed expected(size, DType::fp32), actual(size, DType::fp32);
  cpu::choose_experts(cpu_queue, expected.routing(), RouterScores::softmax, true, View{});
  cuda::choose_experts(gpu_queue, actual.routing(), RouterScores::softmax, true, View{});
  CHECK(actual.experts() == expected.experts());
  check_near(actual.weights(), expected.weights(), DType::fp32);
}

TEST_CASE("of equal scores a GPU chooses the first, and of what is no number experts that there are", "[routing]") {
  const MixtureSize size{2, 40, 3, 2};
  for (const double score : {1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    CAPTURE(score);
    Routed routed(size, DType::fp32);
    const View scores = routed.routing().scores_ME;
    std::fill_n(scores.as<float>(), scores.elements(), static_cast<float>(score));
    cuda::choose_experts(gpu_queue, routed.routing(), RouterScores::softmax, true, View{});
    CHECK(routed.experts() == std::vector<std::int32_t>{0, 1, 2, 0, 1, 2});
  }
}

TEST_CASE("sigmoids that are all zero have weights that are zero", "[routing]") {
  Routed routed({1, 3, 2, 1}, DType::fp32, false);
  std::fill_n(routed.routing().scores_ME.as<float>(), 3, -std::numeric_limits<float>::infinity());
  cuda::choose_experts(gpu_queue, routed.routing(), RouterScores::sigmoid, true, View{});
  CHECK(routed.weights() == Values{0, 0});
}

TEST_CASE("pairs are sorted as on a CPU", "[routing]") {
  for_each_mixture([](const MixtureSize& size, DType dtype) {
    const Routed expected = Routed::sorted(size, dtype);
    for_each_schedule([&] {
      Routed actual(size, dtype);
      cpu::choose_experts(cpu_queue, actual.routing(), RouterScores::softmax, true, View{});
      cuda::sort_pairs(gpu_queue, actual.routing(), size.capacity);
      CHECK(actual.order() == expected.order());
    });
  });
}

TEST_CASE("pairs in more chunks than one block adds up at a time are sorted as on a CPU", "[routing]") {
  const MixtureSize size{70'000, 3, 2, 40'000};
  const Routed expected = Routed::sorted(size, DType::fp32);
  Routed actual(size, DType::fp32);
  cpu::choose_experts(cpu_queue, actual.routing(), RouterScores::softmax, true, View{});
  cuda::sort_pairs(gpu_queue, actual.routing(), size.capacity);
  CHECK((actual.order() == expected.order()));
}

TEST_CASE("gradients of a router's logits on a GPU are the CPU's", "[routing]") {
  for_each_mixture([](const MixtureSize& size, DType dtype) {
    for (const RouterScores scores : all_scores)
      for (const bool normalize : {false, true})
        for (const RouterLosses losses : {RouterLosses{}, {0.1, 0.2}}) {
          CAPTURE(static_cast<int>(scores), normalize, losses.z);
          StepScalars step;
          step.micro_batch.tokens = 17;
          step.loss_scale.value = 4;
          const Routed before = Routed::sorted(size, dtype, scores);
          Routed expected = before;
          cpu::choose_experts_backward(cpu_queue, expected.routing(), scores, normalize, losses, &step);
          for_each_schedule([&] {
            Routed actual = before;
            cuda::choose_experts_backward(gpu_queue, actual.routing(), scores, normalize, losses, &step);
            CHECK(relative_error(actual.scores(), expected.scores()) <= 100 * sum_tolerance(dtype));
          });
        }
  });
}

TEST_CASE("a router's losses on a GPU are the CPU's, and added to what is there", "[routing]") {
  for_each_mixture([](const MixtureSize& size, DType dtype) {
    for (const RouterScores scores : all_scores) {
      Routed routed = Routed::sorted(size, dtype, scores);
      const RouterLosses losses{0.1, 0.2};
      double expected = 3;
      cpu::add_router_loss(cpu_queue, routed.routing(), scores, losses, &expected);
      for_each_schedule([&] {
        double actual = 3;
        cuda::add_router_loss(gpu_queue, routed.routing(), scores, losses, &actual);
        CHECK(actual == Approx(expected).epsilon(sum_tolerance(dtype)));
      });
    }
  });
}

TEST_CASE("losses of tokens that take blocks several turns are the CPU's", "[routing]") {
  Routed routed = Routed::sorted({5000, 3, 1, 5000}, DType::fp32);
  double expected = 0, actual = 0;
  cpu::add_router_loss(cpu_queue, routed.routing(), RouterScores::softmax, {0.1, 0.2}, &expected);
  cuda::add_router_loss(gpu_queue, routed.routing(), RouterScores::softmax, {0.1, 0.2}, &actual);
  CHECK(actual == Approx(expected).epsilon(1e-7));
}

TEST_CASE("loads are added up on a GPU", "[routing]") {
  Routed routed = Routed::sorted({300, 8, 2, 60}, DType::fp32);
  std::vector<std::int64_t> expected(8, std::int64_t{1} << 40), actual(expected);
  cpu::add_loads(cpu_queue, routed.routing(), expected.data());
  for_each_schedule([&] {
    actual.assign(8, std::int64_t{1} << 40);
    cuda::add_loads(gpu_queue, routed.routing(), actual.data());
    CHECK(actual == expected);
  });
}

TEST_CASE("biases move on a GPU with the bits of the CPU, wherever a run of elements begins", "[routing]") {
  const std::int64_t big = std::int64_t{1} << 40;
  std::vector<std::int64_t> loads(70, big);
  loads[1] = big + 1, loads[69] = big - 1;
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64})
    for (const std::int64_t first_bias : {64, 128, 192})
      for (const bool applies : {true, false}) {
        CAPTURE(name_of(dtype), first_bias, applies);
        const UpdateDecision decision{.applies = applies, .gradient_scale = 0.3, .update = 5};
        check_same_bits(
            {}, random_storages(1, 128, dtype, 0, {1, 2}),
            [&](const auto&, const auto& out) {
              const ElementUpdate run{.gradient = out[0], .master = out[1], .noise_key = {7, 9}, .first = 128};
              cuda::balance_biases(gpu_queue, run, first_bias, loads.data(), 70, 0.5, {.decision = &decision});
            },
            [&](const auto&, const auto& out) {
              const ElementUpdate run{.gradient = out[0], .master = out[1], .noise_key = {7, 9}, .first = 128};
              cpu::balance_biases(cpu_queue, run, first_bias, loads.data(), 70, 0.5, {.decision = &decision});
            });
      }
}

}  // namespace monomorph::emulator
