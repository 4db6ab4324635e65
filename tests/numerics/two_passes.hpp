#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include "support/adamw_update.hpp"
#include "support/catch.hpp"

#include <cmath>
#include <string>
#include <vector>

/// Small fp64 models that are compared with ones that LibTorch's autograd goes back through.
namespace monomorph::testing {

/// Loss and gradients of two micro-batches.
struct Passes {
  double loss = 0;
  std::vector<std::string> names;
  std::vector<std::vector<double>> gradients;
};
template <class R> Passes passes() {
  constexpr std::int64_t batch = 2, n_tokens = batch * trunk_of<R>.context_length;
  std::vector<std::int32_t> inputs;
  for (int i = 0; i < n_tokens; ++i) inputs.push_back(i * 17 % static_cast<int>(trunk_of<R>.vocab_size));
  const std::vector<std::int32_t> targets(inputs.rbegin(), inputs.rend());
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, batch, 3);
  Passes passes;
  passes.loss += accumulate(step, {inputs.data(), targets.data(), 0}, 0, {0, 2}).loss;
  passes.loss += accumulate(step, {targets.data(), inputs.data(), 2}, 0, {1, 2}).loss;
  for (const train::StateTensor& tensor : step.gradients()) {
    passes.names.push_back(tensor.name);
    passes.gradients.emplace_back(tensor.view.template as<double>(),
                                  tensor.view.template as<double>() + tensor.view.elements());
  }
  return passes;
}

inline double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

/// That losses and gradients are equal, tensor by tensor, whose names are so, too.
inline void check_equal(const Passes& own, const Passes& expected) {
  CHECK(own.loss == Approx(expected.loss).epsilon(1e-12));
  REQUIRE(own.names == expected.names);
  for (std::size_t i = 0; i < own.names.size(); ++i) {
    CAPTURE(own.names[i]);
    REQUIRE(own.gradients[i].size() == expected.gradients[i].size());
    std::vector<double> difference = own.gradients[i];
    for (std::size_t j = 0; j < difference.size(); ++j) difference[j] -= expected.gradients[i][j];
    CHECK(norm(expected.gradients[i]) > 1e-6);
    CHECK(norm(difference) < 1e-10 * norm(expected.gradients[i]));
  }
}

}  // namespace monomorph::testing
