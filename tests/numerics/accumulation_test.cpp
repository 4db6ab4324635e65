#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

constexpr std::int64_t T = gpt2_like::model.context_length;

struct Accumulated {
  LossSum loss;
  Tensors gradients;
  double norm;
};

/// The gradients of all four sequences, in micro-batches of `micro_batch`.
template <Recipe R> Accumulated accumulated(std::int64_t micro_batch) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  Accumulated result{};
  for (std::int64_t first = 0; first < 4; first += micro_batch) {
    const LossSum loss = accumulate(step, sequences.from(first, T), 1, {first / micro_batch, 4 / micro_batch});
    result.loss.loss += loss.loss;
    result.loss.tokens += loss.tokens;
  }
  result.gradients = values_of(step.gradients());
  result.norm = std::sqrt(gradient_norm(step).sum.value());
  return result;
}

/// Sequences count 24, 19, 14 and 9 tokens: a mean of means would differ in the first digit.
template <Recipe R> void check_accumulation() {
  const Accumulated whole = accumulated<R>(4);
  CHECK(whole.loss.tokens == 24 + 19 + 14 + 9);
  for (const std::int64_t micro_batch : {1, 2}) {
    const Accumulated parts = accumulated<R>(micro_batch);
    CHECK(parts.loss.tokens == whole.loss.tokens);
    CHECK(std::abs(parts.loss.loss / whole.loss.loss - 1) < 1e-6);
    CHECK(std::abs(parts.norm / whole.norm - 1) < 1e-6);
    const Difference worst = worst_difference(parts.gradients, whole.gradients);
    INFO(worst.name);
    CHECK(worst.error < 2e-6);
  }
}

/// No parameter, moment or gradient changes, and the loss is the same whatever came before.
template <Recipe R> void check_evaluation() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  const train::MicroBatch batch = sequences.from(0, T);
  const double before = step.evaluate(batch).loss;
  const double trained = accumulate(step, batch, 1, {}).loss;
  const auto hash = [&] {
    return hash_of(step.parameters()) ^ 3 * hash_of(step.optimizer_state()) ^ 5 * hash_of(step.gradients());
  };
  const std::uint64_t state = hash();
  CHECK(step.evaluate(batch).loss == before);  // in bits: no mask is drawn, from no step
  CHECK(step.evaluate(batch).loss == before);
  CHECK(hash() == state);
  CHECK(trained != before);                               // training has dropout
  CHECK(accumulate(step, batch, 2, {}).loss != trained);  // another in each step
  CHECK(accumulate(step, batch, 1, {}).loss == trained);
  CHECK(hash() == state);
}

template <Recipe R> void check_nothing_counted() {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  const std::vector<std::int32_t> ignored(static_cast<std::size_t>(2 * T), ignored_target);
  const LossSum loss = accumulate(step, {sequences.inputs.data(), ignored.data(), 0}, 1, {});
  CHECK(loss.tokens == 0);
  CHECK(loss.loss == 0);
  for (const auto& [name, values] : values_of(step.gradients())) {
    INFO(name);
    CHECK(std::all_of(values.begin(), values.end(), [](double value) { return value == 0; }));
  }
  CHECK(gradient_norm(step).sum.value() == 0);
  const LossSum evaluated = step.evaluate({sequences.inputs.data(), ignored.data(), 0});
  CHECK(evaluated.tokens == 0);
  CHECK(evaluated.loss == 0);
}

}  // namespace

TEST_CASE("micro-batches add up to the whole batch, however many of their targets count") {
  check_accumulation<gpt2_like>();
  check_accumulation<llama_like>();
}

TEST_CASE("evaluation has no dropout and moves no state") {
  check_evaluation<gpt2_like>();
  check_evaluation<llama_like>();
  check_evaluation<InBf16<llama_like>>();
}

TEST_CASE("a batch of which no token counts has gradients of zero") {
  check_nothing_counted<gpt2_like>();
  check_nothing_counted<llama_like>();
}

}  // namespace monomorph::testing
