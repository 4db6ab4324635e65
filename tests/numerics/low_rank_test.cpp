// Low-rank adapters against autograd in fp64, and what they leave as it is.
#include "distributed/encoder_like.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "numerics/model_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/model/mixture_of_experts.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

template <class R> struct InFp64 : R { using precision = monomorph::precision::Fp64; };
template <class R> struct InBf16Pure : R { using precision = monomorph::precision::Bf16Pure; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };
inline constexpr MixtureSpec experts{.n_experts = 4, .top_k = 2, .n_shared = 1};
template <class R> struct Mixed : R { using layers = Stack<Run<DecoderBlock, 2>, Run<Mixture<experts>::Block, 2>>; };
template <class R> struct Parallel : R { using layers = Stack<Run<Composed<BlockOrder::parallel>::Block, 4>>; };
template <class R> struct WithoutAdapters : R { using finetuning = monomorph::finetuning::All; };

struct Trained {
  Tensors initial, parameters, state;
};
/// Two updates, each with the gradients of a micro-batch.
template <Recipe R> Trained trained() {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  CHECK(step.state().arena().unused_bytes() == 0);
  Trained result{.initial = values_of(step.parameters()), .parameters = {}, .state = {}};
  for (const std::int64_t i : {0, 1}) {
    accumulate(step, sequences.from(2 * i, R::model.context_length), static_cast<std::uint64_t>(i + 1), {});
    gradient_norm(step);
    update(step, i + 1, 1e-2);
  }
  result.parameters = values_of(step.parameters());
  result.state = values_of(step.optimizer_state());
  return result;
}

bool is_of_adapter(const std::string& name) { return name.ends_with(".lora_A") || name.ends_with(".lora_B"); }

template <Recipe R> void check_base_stays() {
  const Trained result = trained<R>();
  int n_adapters = 0;
  for (const auto& [name, values] : result.parameters) {
    CAPTURE(name);
    CHECK((values != result.initial.at(name)) == is_of_adapter(name));
    CHECK(result.state.contains("moment1." + name) == is_of_adapter(name));
    n_adapters += is_of_adapter(name) ? 1 : 0;
  }
  CHECK(n_adapters > 0);
  constexpr plan::Memory of_all = plan::memory<WithoutAdapters<R>>(1, 2), of_adapters = plan::memory<R>(1, 2);
  STATIC_REQUIRE(of_adapters.gradients < of_all.gradients / 2);
  STATIC_REQUIRE(of_adapters.optimizer_state < of_all.optimizer_state / 2);
}

}  // namespace

TEST_CASE("models with low-rank adapters, against autograd: training, evaluation, decoding") {
  using namespace checkpointing;
  using gated = InFp64<Adapted<llama_like, dropped_everywhere>>;
  check_model(model_case<gated>(0));
  check_model(model_case<With<gated, EveryBlock>>(1));
  check_model(model_case<With<gated, RecomputeCheap>>(2));
  check_model(model_case<InFp64<Adapted<gpt2_like, everywhere_but_gate>>>(3));
  check_model(model_case<With<InFp64<Adapted<Parallel<llama_like>, everywhere>>, EveryBlock>>(4));
  check_model(model_case<InFp64<Adapted<Mixed<llama_like>, everywhere>>>(5));
}

TEST_CASE("training adapters leaves the bits of the base alone") {
  check_base_stays<Adapted<gpt2_like, stabilised>>();
  check_base_stays<With<InBf16<Adapted<llama_like, everywhere>>, checkpointing::EveryBlock>>();
  check_base_stays<InBf16Pure<Adapted<llama_like, queries_and_values>>>();
}

TEST_CASE("adapters begin as a model without them, A uniform and B zero") {
  using adapted = Adapted<llama_like, everywhere>;
  const auto communicator = one_rank();
  train::Step<adapted> step(*communicator, 2, 3);
  train::Step<llama_like> base(*communicator, 2, 3);
  const auto batch = sequences.from(0, llama_like::model.context_length);
  const Tensors initial = values_of(step.parameters());
  for (const train::StateTensor& tensor : base.parameters()) assign(tensor.view, initial.at(tensor.name));
  base.parameters_changed();
  CHECK(step.evaluate(batch).loss == base.evaluate(batch).loss);
  CHECK(initial.at("layers.1.mlp.down.lora_B") == Values(3 * 32));
  const Values& a = initial.at("layers.1.mlp.down.lora_A");
  const double bound = 1 / std::sqrt(80.0);  // of kaiming_uniform_ with a = √5
  const auto [least, most] = std::minmax_element(a.begin(), a.end());
  CHECK(*least >= -bound);
  CHECK(*most <= bound);
  CHECK(*least < -0.9 * bound);
  CHECK(*most > 0.9 * bound);
  double squares = 0;
  for (const double x : a) squares += x * x;
  CHECK(squares / static_cast<double>(a.size()) == Approx(bound * bound / 3).epsilon(0.2));
}

TEST_CASE("encoders have adapters, too, with a fraction of the state") {
  using adapted = Adapted<encoder_like, queries_and_values>;
  STATIC_REQUIRE(Recipe<adapted>);
  STATIC_REQUIRE(plan::memory<adapted>(1, 2).optimizer_state < plan::memory<encoder_like>(1, 2).optimizer_state / 10);
}

TEST_CASE("floating-point operations of adapters, by hand") {
  // Forward of all; gradients of inputs of the head and of all blocks; gradients of the adapters alone.
  using adapted = Adapted<llama_like, queries_and_values>;
  const double adapters = 4 * 2.0 * (1 * (32 + 32) + 1 * (32 + 16)), attention = 4 * 4.0 * 32 * (24 + 1) / 2,
               products = 4 * 2.0 * (64 * 32 + 32 * 32 + 3 * 80 * 32), head = 2.0 * 50 * 32;
  CHECK(plan::flops_per_token<adapted>().exact ==
        Approx(2 * head + 2 * products + 3 * adapters + 3 * attention).epsilon(1e-12));
}

}  // namespace monomorph::testing
