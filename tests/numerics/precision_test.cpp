// Each precision keeps what its policy says in the dtype that it says, and computes what fp32 does but for rounding.
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/world.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

template <class R, class Precision> struct In : R { using precision = Precision; };

struct Pass {
  double loss = 0;
  Tensors gradients;
};

bool all_are(const std::vector<train::StateTensor>& tensors, DType dtype) {
  return std::ranges::all_of(tensors, [&](const train::StateTensor& tensor) { return tensor.view.dtype == dtype; });
}

template <Recipe R> Pass one_pass(double loss_scale) {
  using Precision = typename R::precision;
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  CHECK(all_are(step.parameters(), Precision::master_dtype));
  CHECK(all_are(step.moments(), Precision::master_dtype));
  CHECK(all_are(step.gradients(), Precision::gradient_dtype));
  Pass pass;
  for (const std::int64_t i : {0, 1})
    pass.loss += step.accumulate(sequences.from(2 * i, R::model.context_length), 1, {i, 2, loss_scale}).loss;
  for (int block = 0; block <= plan::n_blocks<R>; ++block)
    CHECK(step.hidden_state(block).dtype == Precision::compute_dtype);
  pass.gradients = values_of(step.gradients());
  for (auto& [name, values] : pass.gradients)
    for (double& value : values) value /= loss_scale;
  return pass;
}

template <class R, class Precision> void check_near_fp32(double tolerance, double loss_scale) {
  CAPTURE(Precision::name, loss_scale);
  const Pass exact = one_pass<In<R, precision::Fp32>>(1), pass = one_pass<In<R, Precision>>(loss_scale);
  CHECK(std::abs(pass.loss / exact.loss - 1) < tolerance);
  const Difference worst = worst_difference(pass.gradients, exact.gradients);
  CAPTURE(worst.name);
  CHECK(worst.error < tolerance);
}

}  // namespace

TEST_CASE("narrow precisions give fp32's loss and gradients but for their rounding") {
  check_near_fp32<gpt2_like, precision::Bf16Mixed>(0.05, 1);
  check_near_fp32<llama_like, precision::Bf16Mixed>(0.05, 1);
  check_near_fp32<gpt2_like, precision::Bf16Pure>(0.05, 1);
  check_near_fp32<llama_like, precision::Bf16Pure>(0.05, 1);
  check_near_fp32<gpt2_like, precision::Fp16Mixed>(0.008, 256);
  check_near_fp32<llama_like, precision::Fp16Mixed>(0.008, 256);
}

TEST_CASE("a scaled loss has scaled gradients, to the bit where nothing is rounded") {
  const Pass plain = one_pass<In<gpt2_like, precision::Fp32>>(1), scaled = one_pass<In<gpt2_like, precision::Fp32>>(64);
  CHECK(plain.loss == scaled.loss);
  CHECK(plain.gradients == scaled.gradients);
}

}  // namespace monomorph::testing
