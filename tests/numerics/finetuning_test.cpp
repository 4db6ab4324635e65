// Frozen units: what is trained gets the gradients and the update that it gets when all is trained; the rest has
// neither, in the plan and in fact.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/model/autograd_block.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <ATen/ops/linear.h>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

template <class R, class Policy> struct Tuned : R { using finetuning = Policy; };
template <class R> struct InBf16Pure : R { using precision = monomorph::precision::Bf16Pure; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };

/// What is trained lies between what is not: nothing but blocks 1 and 3.
struct OddBlocks {
  static constexpr bool trains(UnitKind kind, int block) { return kind == UnitKind::block && block % 2 == 1; }
};
/// Backward goes through all blocks, of which none is trained.
struct EmbeddingOnly {
  static constexpr bool trains(UnitKind kind, int /*block*/) { return kind == UnitKind::embedding; }
};

/// x + W x by autograd.
template <class R> struct LinearBlock : AutogradBlock<LinearBlock<R>> {
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : ParameterLayout {
    constexpr explicit Params(int block = 0) {
      take_tensor("weight", {D, D}, ParameterClass::linear, initializers::residual_matrix(R::model, block));
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * D * D; }
  static at::Tensor compute(const AutogradInput& in) {
    return in.x_BTD().add(at::linear(in.x_BTD(), in.parameter("weight")));
  }
};
template <class R> struct EndsInAutograd : R { using layers = Stack<Run<DecoderBlock, 2>, Run<LinearBlock, 2>>; };

constexpr std::int64_t micro_batch = 2;

struct Trained {
  Tensors initial, gradients, parameters, state;
};

struct Tables {
  static constexpr ParameterSelector parameters[] = {ParameterClass::embedding, ParameterClass::norm};
};
struct Attention {
  static constexpr ParameterSelector parameters[] = {"layers.*.attention.*"};
};
struct Mlps {
  static constexpr ParameterSelector parameters[] = {"*.mlp.*", "layers.0.*", "final_norm.*"};
};
struct Vectors {
  static constexpr ParameterSelector parameters[] = {ParameterClass::bias, ParameterClass::norm};
};
struct Weights {
  static constexpr ParameterSelector parameters[] = {"layers.3.weight", "layers.0.mlp.*"};
};
struct Norms {
  static constexpr ParameterSelector parameters[] = {ParameterClass::norm};
};
struct OneTensor {
  static constexpr ParameterSelector parameters[] = {"layers.2.attention.out.weight"};
};
struct Routers {
  static constexpr ParameterSelector parameters[] = {"*.mlp.router.*", "*.mlp.shared.*"};
};
struct Gates {
  static constexpr ParameterSelector parameters[] = {"*.mlp.experts.gate.weight"};
};
inline constexpr MixtureSpec experts{.n_experts = 4, .top_k = 2, .n_shared = 1};
template <class R> struct Mixed : R { using layers = Stack<Run<DecoderBlock, 2>, Run<Mixture<experts>::Block, 2>>; };
/// A policy of one's own: parameters by name in the upper blocks.
struct OutputsAbove {
  static constexpr bool trains(UnitKind kind, int block) { return kind == UnitKind::block && block >= 2; }
  static constexpr bool trains_parameter(std::string_view name, ParameterClass) {
    return matches("*.out.weight", name) || matches("*.down.weight", name);
  }
};

/// One update with the gradients of two micro-batches.
template <Recipe R> Trained trained() {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  CHECK(step.state().arena().unused_bytes() == 0);
  Trained result{.initial = values_of(step.parameters()), .gradients = {}, .parameters = {}, .state = {}};
  for (const std::int64_t i : {0, 1})
    accumulate(step, sequences.from(2 * i, R::model.context_length), 1, {.index = i, .count = 2});
  gradient_norm(step);
  result.gradients = values_of(step.gradients());
  update(step, 1, 1e-2);
  result.parameters = values_of(step.parameters());
  result.state = values_of(step.optimizer_state());
  return result;
}

/// The unit of a tensor, by its name.
template <class R> int unit_of(const std::string& name) {
  if (name.starts_with("layers.")) return plan::layer_of_block<R>(std::stoi(name.substr(7)));
  const bool embeds = name.find("embedding") != std::string::npos;
  return embeds ? 0 : plan::head_unit<R>;
}

/// Whether a tensor is trained, by its name in checkpoints.
template <class R> bool trains_named(const std::string& name) {
  const int unit = unit_of<R>(name);
  const ParameterLayout layout = plan::unit_layout<R>(unit);
  for (const TensorInfo& tensor : layout)
    if (plan::parameter_name<R>(unit, tensor).view() == name) return plan::trains_tensor<R>(unit, tensor);
  FAIL(name + " is in no unit");
  return false;
}

template <Recipe R> void check_frozen(const Trained& all, const Trained& tuned) {
  int n_trained = 0, n_frozen = 0;
  for (const auto& [name, values] : all.parameters) {
    CAPTURE(name);
    const bool trains = trains_named<R>(name);
    ++(trains ? n_trained : n_frozen);
    CHECK(tuned.gradients.contains(name) == trains);
    CHECK(tuned.state.contains("moment1." + name) == trains);
    CHECK(tuned.parameters.at(name) == (trains ? values : tuned.initial.at(name)));
    if (trains) CHECK(tuned.gradients.at(name) == all.gradients.at(name));
  }
  CHECK(n_trained > 0);
  CHECK(n_frozen > 0);
}

template <class R, class Policy> void check_policy(const Trained& all) {
  CAPTURE(monomorph::type_name<Policy>());
  using tuned = Tuned<R, Policy>;
  check_frozen<tuned>(all, trained<tuned>());
  constexpr plan::Memory of_all = plan::memory<R>(1, micro_batch), of_tuned = plan::memory<tuned>(1, micro_batch);
  STATIC_REQUIRE(of_tuned.gradients < of_all.gradients);
  STATIC_REQUIRE(of_tuned.optimizer_state < of_all.optimizer_state);
  STATIC_REQUIRE(of_tuned.activations <= of_all.activations);
  STATIC_REQUIRE(plan::flops_per_token<tuned>().exact <= plan::flops_per_token<R>().exact);
}

template <class R> void check_policies() {
  const Trained all = trained<R>();
  check_policy<R, finetuning::FreezeFirst<0>>(all);
  check_policy<R, finetuning::FreezeFirst<2>>(all);
  check_policy<R, OddBlocks>(all);
  check_policy<R, EmbeddingOnly>(all);
  if constexpr (!R::model.tied_head) check_policy<R, finetuning::HeadOnly>(all);
}

/// Single parameters, whatever unit they are of.
template <class R> void check_parameters() {
  const Trained all = trained<R>();
  check_policy<R, finetuning::Freeze<Tables>>(all);
  check_policy<R, finetuning::Freeze<Attention>>(all);
  check_policy<R, finetuning::Freeze<Mlps>>(all);
  check_policy<R, finetuning::TrainOnly<Mlps>>(all);
  check_policy<R, finetuning::TrainOnly<Norms>>(all);
  check_policy<R, finetuning::TrainOnly<OneTensor>>(all);
  check_policy<R, OutputsAbove>(all);
  if constexpr (R::model.norm.bias) check_policy<R, finetuning::TrainOnly<Vectors>>(all);
}

}  // namespace

TEST_CASE("frozen parameters stay as they are, the others are trained as if all were: tied head") {
  check_parameters<gpt2_like>();
  check_parameters<With<InBf16<gpt2_like>, checkpointing::EveryBlock>>();
}
TEST_CASE("frozen parameters stay as they are, the others are trained as if all were: head of its own") {
  check_parameters<llama_like>();
  check_parameters<With<llama_like, checkpointing::RecomputeCheap>>();
}
TEST_CASE("frozen parameters stay as they are where others are rounded at random, to the same bits") {
  check_policy<InBf16Pure<llama_like>, finetuning::Freeze<Attention>>(trained<InBf16Pure<llama_like>>());
}
TEST_CASE("frozen parameters of a mixture stay as they are: router, shared expert, one of the experts' matrices") {
  const Trained all = trained<Mixed<llama_like>>();
  check_policy<Mixed<llama_like>, finetuning::Freeze<Routers>>(all);
  check_policy<Mixed<llama_like>, finetuning::Freeze<Gates>>(all);
  check_policy<Mixed<llama_like>, finetuning::TrainOnly<Gates>>(all);
}
TEST_CASE("frozen parameters of blocks with autograd stay as they are") {
  const Trained all = trained<EndsInAutograd<llama_like>>();
  check_policy<EndsInAutograd<llama_like>, finetuning::Freeze<Weights>>(all);
  check_policy<EndsInAutograd<llama_like>, finetuning::TrainOnly<Weights>>(all);
}

TEST_CASE("frozen units stay as they are, the others are trained as if all were: tied head") {
  check_policies<gpt2_like>();
  check_policies<With<InBf16<gpt2_like>, checkpointing::EveryBlock>>();
}
TEST_CASE("frozen units stay as they are, the others are trained as if all were: head of its own") {
  check_policies<llama_like>();
  check_policies<With<llama_like, checkpointing::RecomputeCheap>>();
}
TEST_CASE("frozen units stay as they are, the others are trained as if all were: blocks with autograd") {
  check_policies<EndsInAutograd<llama_like>>();
  check_policies<With<EndsInAutograd<gpt2_like>, checkpointing::EveryNthBlock<2>>>();
}

TEST_CASE("what backward does not reach shares the memory of one block") {
  using tuned = Tuned<llama_like, finetuning::FreezeFirst<3>>;
  constexpr std::int64_t kept = plan::memory<llama_like>(1, micro_batch).activations,
                         once = plan::memory<tuned>(1, micro_batch).activations,
                         recomputed =
                             plan::memory<With<llama_like, checkpointing::EveryBlock>>(1, micro_batch).activations;
  STATIC_REQUIRE(once < kept);
  STATIC_REQUIRE(once > recomputed);
}

TEST_CASE("floating-point operations of what is trained, by hand") {
  // Forward of all; gradients of inputs of the head and of two blocks; gradients of parameters of the same.
  using tuned = Tuned<llama_like, finetuning::FreezeFirst<2>>;
  const double all = plan::flops_per_token<llama_like>().exact, head = 3 * 2.0 * 50 * 32, blocks = all - head;
  CHECK(plan::flops_per_token<tuned>().exact == head + blocks / 2 + blocks / 2 / 3);
}

}  // namespace monomorph::testing
