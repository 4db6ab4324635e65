// What waits in the host's memory: the same bits as without, however late copies are, and the bytes of the plan.
#include "numerics/inference_check.hpp"
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>

namespace monomorph::testing {
namespace {

using Timing = Transfers::Timing;
using checkpointing::Offload;

template <class R, class Strategy> struct ShardedBy : R { using sharding = Strategy; };
template <class R, class Policy> struct With : R { using checkpointing = Policy; };
template <class R, class Optimizer> struct OptimizedBy : R { using optimizer = Optimizer; };
template <class R> struct FrozenBelow : R { using finetuning = finetuning::FreezeFirst<1>; };
/// Some blocks, and not side by side.
struct OffloadsSome : checkpointing::KeepAll {
  static constexpr bool offloads(int block) { return block != 1; }
};

constexpr std::int64_t micro_batch = 2;

/// Of everything that three steps of two micro-batches leave, with an evaluation between them, and of the logits of
/// what generates.
template <Recipe R, bool generates> std::uint64_t trained(Timing timing) {
  const auto communicator = one_rank();
  StepThat<R, generates> step(*communicator, micro_batch, 3, 0, {}, timing);
  constexpr plan::Memory plan = plan::memory<R>(1, micro_batch);
  CHECK(step.state().arena().bytes() == plan.arena());
  CHECK(step.state().arena().unused_bytes() == 0);
  CHECK(step.state().host_arena().bytes() == plan.host());
  CHECK(step.state().host_arena().unused_bytes() == 0);
  CHECK(wrong_regions(step.state(), 1, micro_batch) == "");
  const auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t i : {0, 1})
      accumulate(step, sequences.from(2 * i, R::model.context_length), number, {.index = i, .count = 2});
    gradient_norm(step);
    update(step, number, 1e-2, hparams);
    step.evaluate(sequences.from(1, R::model.context_length));
  }
  Values logits = check_inference<R, generates>(step, micro_batch, timing);
  const View of_logits(reinterpret_cast<std::byte*>(logits.data()), DType::fp64, {1, std::ssize(logits)});
  return hash_of(step.parameters()) ^ hash_of(step.gradients()) << 1 ^ hash_of(step.optimizer_state()) << 2 ^
         hash_of({{.name = "logits", .view = of_logits}}) << 3;
}

/// @tparam generates also tokens behind the training: what is kept of a forward for backward, and an optimizer's state,
/// are nothing to decoders, so that one recipe of each kind generates, and those whose parameters come from the host
template <class Offloaded, class R, bool generates = false> void check_same() {
  CAPTURE(monomorph::type_name<typename Offloaded::checkpointing>(),
          monomorph::type_name<typename Offloaded::optimizer>());
  const std::uint64_t expected = trained<R, generates>(Timing::at_once);
  CHECK(trained<Offloaded, generates>(Timing::at_once) == expected);
  CHECK(trained<Offloaded, generates>(Timing::late) == expected);
}

template <class R> void check_activations() {
  check_same<With<R, Offload<>>, R, true>();
  check_same<With<R, Offload<checkpointing::RecomputeCheap>>, R>();
  check_same<With<R, Offload<checkpointing::EveryNthBlock<4>>>, R>();
  check_same<With<R, OffloadsSome>, R>();
  check_same<FrozenBelow<With<R, Offload<>>>, FrozenBelow<R>>();
}
template <class R, class Optimizer, bool generates = false> void check_optimizer() {
  check_same<OptimizedBy<R, optim::HostState<Optimizer>>, OptimizedBy<R, Optimizer>, generates>();
}
template <class R> void check_optimizers() {
  check_optimizer<R, optim::AdamW, true>();
  check_optimizer<R, optim::Bf16State<optim::AdamW>>();
  check_optimizer<R, optim::ByClass<optim::Muon, optim::AdamW>>();
  check_optimizer<FrozenBelow<R>, optim::AdamW>();
}

template <class R, class Strategy = sharding::Replicate>
using InHostMemory =
    OptimizedBy<ShardedBy<R, sharding::HostParameters<Strategy>>, optim::HostState<typename R::optimizer>>;

template <class R> void check_parameters() {
  check_same<InHostMemory<R>, R, true>();
  check_same<InHostMemory<R, sharding::FullShard>, R, true>();
  check_same<InHostMemory<OptimizedBy<R, optim::ByClass<optim::Muon, optim::AdamW>>>,
             OptimizedBy<R, optim::ByClass<optim::Muon, optim::AdamW>>>();
  check_same<InHostMemory<FrozenBelow<R>>, FrozenBelow<R>, true>();
  check_same<InHostMemory<With<R, checkpointing::EveryBlock>>, With<R, checkpointing::EveryBlock>>();
}

/// All kinds share the copies.
template <class R> void check_all() {
  check_same<OptimizedBy<With<R, Offload<>>, optim::HostState<optim::AdamW>>, R>();
  check_same<InHostMemory<With<R, Offload<>>>, R, true>();
}

/// An optimiser that keeps nothing.
struct PlainGradient : optim::Sgd {
  static constexpr StateBuffers state(ParameterClass) { return {}; }
  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& scalars) {
    each_element<0>(queue, run, scalars,
                    [rate = scalars.rate(hparams.lr)]<class S>(S g, S& w) { w -= static_cast<S>(rate) * g; });
  }
};

template <class R> constexpr plan::Memory planned = plan::memory<R>(1, micro_batch);

}  // namespace

TEST_CASE("activations that wait on the host give the same bits: tied head") { check_activations<gpt2_like>(); }
TEST_CASE("activations that wait on the host give the same bits: head of its own, bf16") {
  check_activations<InBf16<llama_like>>();
}
TEST_CASE("optimizer state and masters on the host give the same bits: tied head") { check_optimizers<gpt2_like>(); }
TEST_CASE("optimizer state and masters on the host give the same bits: head of its own, bf16") {
  check_optimizers<InBf16<llama_like>>();
}

TEST_CASE("parameters of compute on the host give the same bits: tied head, which stays") {
  check_parameters<gpt2_like>();
}
TEST_CASE("parameters of compute on the host give the same bits: head of its own") { check_parameters<llama_like>(); }
TEST_CASE("parameters of compute on the host give the same bits: head of its own, bf16") {
  check_parameters<InBf16<llama_like>>();
}
TEST_CASE("activations, parameters and optimizer state on the host at once give the same bits") {
  check_all<gpt2_like>();
  check_all<InBf16<llama_like>>();
}
TEST_CASE("an optimizer without state may lie on the host") { check_optimizer<llama_like, PlainGradient>(); }

TEST_CASE("of four blocks, two move to the host, and two places are left on the device") {
  using offloaded = With<gpt2_like, Offload<>>;
  constexpr plan::Memory all = planned<gpt2_like>, some = planned<offloaded>;
  constexpr std::int64_t moved = some.host_activations / 2;  // all blocks are alike
  STATIC_REQUIRE(moved > 0);
  STATIC_REQUIRE(all.activations + all.statistics == some.activations + some.statistics + 2 * moved);
  STATIC_REQUIRE(all.total() == some.total());
}

TEST_CASE("on the device, two places are left of masters and state") {
  using base = InBf16<llama_like>;
  using offloaded = OptimizedBy<base, optim::HostState<optim::AdamW>>;
  constexpr plan::Memory all = planned<base>, some = planned<offloaded>;
  STATIC_REQUIRE(some.host_optimizer == all.master + all.optimizer_state);
  constexpr std::int64_t longest = plan::unit_layout<base>(1).elements;  // a block
  STATIC_REQUIRE(some.master == 2 * 4 * longest);
  STATIC_REQUIRE(some.optimizer_state == 2 * 8 * longest);
}

namespace {
/// The loss before an update, and again after the parameters from before it were written back.
template <Recipe R> void check_load(Timing timing) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3, 0, {}, timing);
  constexpr std::int64_t T = trunk_of<R>.context_length;
  const auto loss = [&] { return step.evaluate(sequences.from(1, T)).loss; };
  const double before = loss();
  std::vector<std::vector<std::byte>> saved;
  for (const train::StateTensor& tensor : step.parameters())
    saved.emplace_back(tensor.view.data, tensor.view.data + tensor.view.bytes());
  accumulate(step, sequences.from(0, T), 1, {.index = 0, .count = 1});
  gradient_norm(step);
  update(step, 1, 1e-2, PolicyHparams::of<typename R::optimizer::Hparams>());
  const auto tensors = step.parameters();
  for (std::size_t i = 0; i < saved.size(); ++i) std::ranges::copy(saved[i], tensors[i].view.data);
  step.parameters_changed();
  CHECK(loss() == before);
}
}  // namespace

TEST_CASE("after a load, nothing that was on its way from the host before is used") {
  for (const Timing timing : {Timing::at_once, Timing::late}) {
    check_load<InHostMemory<gpt2_like>>(timing);
    check_load<InHostMemory<InBf16<llama_like>>>(timing);
    check_load<InHostMemory<llama_like, sharding::FullShard>>(timing);
  }
}

namespace {
/// As what saves behind the steps reads them: by views that were taken when the run began.
template <class R> void check_early_views(Timing timing) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3, 0, {}, timing);
  const auto parameters = step.parameters(), state = step.optimizer_state();
  accumulate(step, sequences.from(0, R::model.context_length), 1, {.index = 0, .count = 1});
  gradient_norm(step);
  update(step, 1, 1e-2, PolicyHparams::of<typename R::optimizer::Hparams>());
  std::vector<HostBuffer> buffers, others;
  const std::uint64_t of_state = hash_of(downloaded(state, step, buffers)),
                      of_parameters = hash_of(downloaded(parameters, step, others));
  CHECK(of_state == hash_of(step.optimizer_state()));
  CHECK(of_parameters == hash_of(step.parameters()));
}
}  // namespace

TEST_CASE("views that were taken before an update show what it leaves, however late copies are") {
  for (const Timing timing : {Timing::at_once, Timing::late}) {
    check_early_views<OptimizedBy<gpt2_like, optim::HostState<optim::AdamW>>>(timing);
    check_early_views<OptimizedBy<InBf16<llama_like>, optim::HostState<optim::AdamW>>>(timing);
    check_early_views<InHostMemory<llama_like>>(timing);
  }
}

TEST_CASE("on the device, two units are left of the parameters of compute") {
  using base = InBf16<llama_like>;
  constexpr plan::Memory all = planned<base>, some = planned<InHostMemory<base>>;
  constexpr std::int64_t longest = [] {
    std::int64_t most = 0;
    for (int u = 0; u < plan::n_units<base>; ++u) most = std::max(most, plan::unit_layout<base>(u).elements);
    return most;
  }();
  STATIC_REQUIRE(some.host_params == all.compute_params);
  STATIC_REQUIRE(some.compute_params == 0);
  STATIC_REQUIRE(some.gathered_params == 2 * 2 * longest);
}
TEST_CASE("parameters that are their own masters come to the device for the update") {
  constexpr plan::Memory all = planned<llama_like>, some = planned<InHostMemory<llama_like>>;
  STATIC_REQUIRE(some.host_params == all.master);
  STATIC_REQUIRE(some.master == some.gathered_params);  // two units each, for the update and for compute
}

}  // namespace monomorph::testing
