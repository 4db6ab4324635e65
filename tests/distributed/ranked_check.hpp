#pragma once
#include "distributed/ranked_axes.hpp"
#include "support/training_program.hpp"

namespace monomorph::testing {

/// A row and its recipe, without the recipe's type.
struct RankedCase {
  RankedRow row;
  train::RecipeProgram recipe;
};

template <RankedRow row> RankedCase ranked_case() {
  return {row, training_program<RankedRecipe<without_division(row)>>()};
}

/// How far a training on several ranks is from the same on one.
struct RankedDifference {
  bool initial_bits = false;                                          ///< the initial parameters are those of one rank
  double loss = 0;                                                    ///< relative, the worst of 100 steps
  double gradient_at_1 = 0, gradient_at_10 = 0, gradient_at_100 = 0;  ///< norm-relative, of the worst tensor
  double rounding = 0;  ///< `loss` between the precision and fp64, both on one rank: what it may cost at all
};

RankedDifference difference_from_one_rank(const RankedCase& subject);

/// That a row's difference is within what its precision allows, with Catch2's CHECK.
void check_row(const RankedCase& subject);

}  // namespace monomorph::testing
