#include "distributed/ranked_check.hpp"

#include "distributed/ranked_training.hpp"
#include "support/catch.hpp"

#include <fmt/ranges.h>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>

namespace monomorph::testing {
namespace {

enum Precision { fp32, fp64, bf16_mixed, bf16_reducing_bf16, bf16_pure, fp16_mixed, fp8_mixed };

/// A micro-batch of 1 on 8 ranks with 4 micro-batches each.
constexpr std::int64_t samples_per_step = 32;

Extent extent_of(int precision) {
  return {.steps = 100,
          .samples_per_step = samples_per_step,
          .gradients_at = {1, 10, 100},
          .loss_scale = precision == fp16_mixed ? 1024.0 : 1.0};
}

/// On one rank, in one micro-batch, everything kept. Precisions' bits differ; strategies and checkpointing must not.
const Outcome& on_one_rank(int model, int precision) {
  static std::map<std::pair<int, int>, Outcome> outcomes;
  const auto [found, is_new] = outcomes.try_emplace({model, precision});
  if (!is_new) return found->second;
  const auto recipe = [&]<int... p>(std::integer_sequence<int, p...>) {
    train::RecipeProgram result;
    const auto choose = [&]<int m, int q>() {
      if (m == model && q == precision) result = ranked_case<RankedRow{m, 0, 0, 0, 0, q, 0}>().recipe;
    };
    (choose.template operator()<0, p>(), ...);
    (choose.template operator()<1, p>(), ...);
    return result;
  }
  (std::make_integer_sequence<int, ranked_levels[ranked_precision]>());
  return found->second = train(recipe, {}, extent_of(precision));
}

struct Bounds {
  double loss, gradient_at_1, gradient_at_10, gradient_at_100;
};

/// What is not bounded here is bounded by the precision's own rounding.
Bounds bounds_of(const RankedRow& row) {
  constexpr double none = 1e300;
  switch (row[ranked_precision]) {
    case fp32:
      return {1e-6, 1e-5, 1e-5, none};
    case fp64:
      return {1e-10, 1e-10, 1e-10, 1e-10};
    case bf16_reducing_bf16:
      // Each rank's part is rounded by half a unit in the last place, and the parts of replicas once more.
      return {none, is_hybrid(row) ? 0x1p-7 : 0x1p-8, none, none};
    default:
      return {none, 1e-5, none, none};
  }
}

/// A line of JSON in the file that MONOMORPH_RANKED_NOTES names, if it does: what a report is made of.
void note(const RankedRow& row, const RankedDifference& difference) {
  const char* const path = std::getenv("MONOMORPH_RANKED_NOTES");
  if (path == nullptr) return;
  std::ofstream(path, std::ios::app) << fmt::format(
      R"({{"row": [{}], "initial_bits": {}, "loss": {}, "gradients": [{}, {}, {}], "rounding": {}}})"
      "\n",
      fmt::join(row, ", "), difference.initial_bits, difference.loss, difference.gradient_at_1,
      difference.gradient_at_10, difference.gradient_at_100, difference.rounding);
}

}  // namespace

RankedDifference difference_from_one_rank(const RankedCase& subject) {
  const int model = subject.row[ranked_model], precision = subject.row[ranked_precision];
  const Outcome& one = on_one_rank(model, precision);
  const Outcome many =
      train(subject.recipe, {ranks_of(subject.row), accumulation_of(subject.row)}, extent_of(precision));
  const auto gradient = [&](int step) {
    return worst_difference(many.gradients.at(step), one.gradients.at(step)).error;
  };
  return {.initial_bits = many.initial == one.initial,
          .loss = worst_difference(many.losses, one.losses),
          .gradient_at_1 = gradient(1),
          .gradient_at_10 = gradient(10),
          .gradient_at_100 = gradient(100),
          .rounding = worst_difference(one.losses, on_one_rank(model, fp64).losses)};
}

void check_row(const RankedCase& subject) {
  CAPTURE(subject.row);
  const int precision = subject.row[ranked_precision];
  const RankedDifference difference = difference_from_one_rank(subject);
  note(subject.row, difference);
  const Bounds bounds = bounds_of(subject.row);
  CHECK(difference.initial_bits);
  CHECK(difference.loss < bounds.loss);
  CHECK(difference.gradient_at_1 < bounds.gradient_at_1);
  CHECK(difference.gradient_at_10 < bounds.gradient_at_10);
  CHECK(difference.gradient_at_100 < bounds.gradient_at_100);
  // One rank and several are each about as far from exact arithmetic as the precision's rounding takes them.
  if (precision >= bf16_mixed) CHECK(difference.loss <= 2 * difference.rounding);
}

}  // namespace monomorph::testing
