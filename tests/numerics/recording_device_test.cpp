// The step on a device whose kernels run later than they are called, in a memory of its own: the same bits as on a CPU,
// and not one access of the host to that memory but copies.
#include "support/recording_device.hpp"
#include "numerics/inference_check.hpp"
#include "numerics/preferences.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "out_of_tree/focal_loss.hpp"
#include "out_of_tree/rms_prop.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/forked_child.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/optim/lion.hpp>
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::testing {
namespace {

using recorder::Recorder;
using Timing = Transfers::Timing;

template <class R, class Policy> struct With : R { using checkpointing = Policy; };
template <class R, class Optimizer> struct OptimizedBy : R { using optimizer = Optimizer; };
using Muon = optim::ByClass<optim::Muon, optim::AdamW>;
template <class R> struct Adapted : R {
  using finetuning = finetuning::LowRank<
      LowRankSpec{.rank = 3, .alpha = 5, .dropout = 0.2, .targets = {.output = true, .gate = true, .down = true}}>;
};
template <class R> struct InNf4 : R { using finetuning = finetuning::Nf4Base<typename R::finetuning>; };
template <class R> struct FrozenBelow : R { using finetuning = finetuning::FreezeFirst<1>; };
inline constexpr MixtureSpec experts{
    .n_experts = 4, .top_k = 2, .d_expert = 32, .n_shared = 1, .balance_loss = 0.01, .bias_rate = 0.001};
template <class R> struct Mixed : R { using layers = Stack<Run<Mixture<experts>::Block, R::model.n_layers.value>>; };

/// An optimiser and an objective whose arithmetic is out of the tree.
struct Stranger : llama_like {
  using optimizer = stranger::RmsProp;
  using objective = stranger::FocalLoss;
};

constexpr std::int64_t micro_batch = 2;
constexpr int tree_levels = plan::tree_levels(2);

std::uint64_t hash_on_host(const train::TrainingStep& step, std::vector<train::StateTensor> tensors) {
  std::vector<HostBuffer> buffers;
  return hash_of(downloaded(std::move(tensors), step, buffers));
}

struct Trained {
  std::uint64_t hash = 0;
  std::vector<double> losses;
  friend bool operator==(const Trained&, const Trained&) = default;
};

/// What three steps of two micro-batches leave, with an evaluation between them and, where it generates, some tokens
/// that are decoded.
/// @param timing of copies between memory spaces
template <Recipe R, bool generates> Trained trained(int levels, Timing timing = Timing::at_once) {
  const auto communicator = one_rank();
  StepThat<R, generates> step(*communicator, micro_batch, 3, levels, {}, timing);
  const auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  if constexpr (has_teacher<objective_of<R>>) give_teacher(step);
  Trained trained;
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t i : {0, 1}) {
      const LossSum loss = accumulate(step, batch_from<R>(2 * i), number, {.index = i, .count = 2});
      trained.losses.push_back(loss.loss);
    }
    trained.losses.push_back(gradient_norm(step).sum.value());
    update(step, number, 1e-2, hparams);
    trained.losses.push_back(step.evaluate(batch_from<R>(1)).loss);
  }
  trained.hash = hash_on_host(step, step.parameters()) ^ hash_on_host(step, step.gradients()) << 1 ^
                 hash_on_host(step, step.optimizer_state()) << 2;
  if constexpr (generates) {
    OneSequence decoder(step, R::model.context_length);
    for (const int token : {1, 2, 3}) trained.losses.push_back(decoder.feed(token)[0]);
  }
  return trained;
}

/// @tparam generates for one recipe of each model and precision: decoders know neither an optimizer nor what is kept
/// for backward
template <class R, bool generates = false> void check_same() {
  CAPTURE(monomorph::type_name<typename R::checkpointing>(), monomorph::type_name<typename R::optimizer>(),
          monomorph::type_name<typename R::precision>());
  for (const int levels : {0, tree_levels}) {
    CAPTURE(levels);
    const std::int64_t before = Recorder::the().recorded();
    const Trained expected = trained<R, generates>(levels);
    CHECK(trained<On<R, recorder::Device>, generates>(levels) == expected);
    CHECK(Recorder::the().recorded() > before);
  }
}
template <class R> void check_policies() {
  check_same<R, true>();
  check_same<With<R, checkpointing::EveryBlock>>();
  check_same<With<R, checkpointing::RecomputeCheap>>();
  check_same<OptimizedBy<R, Muon>>();
  check_same<FrozenBelow<R>>();
}

/// What waits in the host's memory comes and goes in its turn, however early or late copies are.
template <class Offloaded, class R, bool generates = false> void check_offloaded() {
  CAPTURE(monomorph::type_name<typename Offloaded::checkpointing>(),
          monomorph::type_name<typename Offloaded::optimizer>(), monomorph::type_name<typename Offloaded::precision>());
  const Trained expected = trained<R, generates>(0);
  for (const Timing timing : {Timing::at_once, Timing::late}) {
    CAPTURE(static_cast<int>(timing));
    CHECK(trained<On<Offloaded, recorder::Device>, generates>(0, timing) == expected);
  }
}
template <class R> void check_host_memory() {
  using checkpointing::Offload;
  using optim::HostState;
  check_offloaded<With<R, Offload<>>, R, true>();
  check_offloaded<With<R, Offload<checkpointing::RecomputeCheap>>, R>();
  check_offloaded<OptimizedBy<R, HostState<optim::AdamW>>, R, true>();
  check_offloaded<OptimizedBy<R, HostState<Muon>>, OptimizedBy<R, Muon>>();
  check_offloaded<OptimizedBy<R, HostState<optim::Bf16State<optim::AdamW>>>,
                  OptimizedBy<R, optim::Bf16State<optim::AdamW>>>();
  check_offloaded<FrozenBelow<OptimizedBy<With<R, Offload<>>, HostState<optim::AdamW>>>, FrozenBelow<R>>();
}

}  // namespace

TEST_CASE("a step that runs behind the host gives the same bits: tied head") { check_policies<gpt2_like>(); }
TEST_CASE("a step that runs behind the host gives the same bits: head of its own, bf16") {
  check_policies<InBf16<llama_like>>();
}
TEST_CASE("a step that runs behind the host gives the same bits: low-rank adapters") {
  check_same<Adapted<InBf16<llama_like>>, true>();
  check_same<InNf4<Adapted<InBf16<llama_like>>>, true>();
}
TEST_CASE("a step that runs behind the host gives the same bits: mixture of experts") {
  check_same<Mixed<llama_like>, true>();
  check_same<With<Mixed<llama_like>, checkpointing::EveryBlock>>();
}
TEST_CASE("a step that runs behind the host gives the same bits: soft caps") {
  check_same<Capped<llama_like>, true>();
  check_same<Capped<InBf16<gpt2_like>>, true>();
}
TEST_CASE("a step that runs behind the host gives the same bits: other objectives, and arithmetic of one's own") {
  check_same<OptimizedBy<llama_like, optim::Lion>>();
  check_same<Preferring<llama_like>>();
  check_same<TaughtBy<Padded<llama_like>, gpt2_like>>();
  check_same<Stranger>();
}
TEST_CASE("what waits in the host's memory gives the same bits on a device that runs behind it: tied head") {
  check_host_memory<gpt2_like>();
}
TEST_CASE("what waits in the host's memory gives the same bits on a device that runs behind it: untied, bf16") {
  check_host_memory<InBf16<llama_like>>();
}

TEST_CASE(
    "the host asks for a whole step without waiting for anything, and reads its outcome when the next one is asked "
    "for") {
  using R = OptimizedBy<InBf16<llama_like>, Muon>;
  const auto take_steps = []<class Of>(std::type_identity<Of>) {
    const auto communicator = one_rank();
    train::Step<Of> step(*communicator, micro_batch, 3);
    const auto hparams = PolicyHparams::of<typename Of::optimizer::Hparams>();
    const auto take_step = [&](std::uint64_t number) {
      for (const std::int64_t i : {0, 1})
        step.accumulate(sequences.from(2 * i, R::model.context_length), number, {.index = i, .count = 2});
      const train::Ticket ticket = step.decide({.max_norm = 0.5});
      step.update(hparams, {});
      return ticket;
    };
    const std::int64_t before = Recorder::the().ran();
    const train::Ticket first = take_step(1), second = take_step(2);
    CHECK(Recorder::the().ran() == before);
    const StepOutcome outcomes[] = {step.read(first), step.read(second)};
    CHECK(outcomes[0].applied);
    return std::tuple(outcomes[0].loss, outcomes[0].gradient_norm, outcomes[1].loss, outcomes[1].gradient_norm,
                      hash_on_host(step, step.parameters()));
  };
  CHECK(take_steps(std::type_identity<On<R, recorder::Device>>{}) == take_steps(std::type_identity<R>{}));
}

TEST_CASE("what the host reads of a device's memory, and is not a copy to the host, ends the program") {
  using R = On<gpt2_like, recorder::Device>;
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  const View parameter = step.parameters()[0].view;
  const auto read = [&] { static_cast<void>(*reinterpret_cast<volatile float*>(parameter.data)); };
  CHECK(end_of(read) == SIGSEGV);
  step.accumulate(sequences.from(0, R::model.context_length), 1, {});
  CHECK(end_of(read) == SIGSEGV);
  synchronize(recorder::Queue{});
  CHECK(end_of(read) == SIGSEGV);
  HostBuffer buffer;
  const View on_host = step.download(parameter, buffer);
  CHECK(end_of([&] { static_cast<void>(*reinterpret_cast<volatile float*>(on_host.data)); }) == 0);
}

}  // namespace monomorph::testing
