// Steps that the GPU has recorded (docs/why/recorded_steps.md): they leave the bits of steps whose kernels are given
// one by one, whatever changes from step to step and comes between, in every schedule.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/plain_rotary.hpp"

#include <monomorph/runtime/machine/trace.hpp>

#include <array>
#include <string>

namespace monomorph::testing {
namespace {

using Order = Schedule::Order;

Simulator& gpu() { return Simulator::the(); }

struct OfExperts : Small<llama_like> {
  using layers =
      Stack<Run<Mixture<MixtureSpec{.n_experts = 4, .top_k = 2, .balance_loss = 0.01, .bias_rate = 0.01}>::Block, 2>>;
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};
struct InFp16 : Small<gpt2_like> {
  using precision = monomorph::precision::Fp16Mixed;
};
struct Documents : InDocuments<Small<llama_like>> {
  using optimizer = monomorph::optim::Lion;
  using checkpointing = monomorph::checkpointing::EveryBlock;
};
struct WithSgd : Small<gpt2_like> {
  using optimizer = optim::Sgd;
};

/// What comes of a training whose steps are all different.
struct Left {
  std::vector<double> losses;
  std::vector<bool> applied;
  std::uint64_t state = 0;
  friend bool operator==(const Left&, const Left&) = default;
};

/// What a step of it is, beside its number.
struct StepOf {
  std::int64_t micro_batches = 2;
  bool is_a_spike = false;  ///< its gradients are more than the settings allow
  bool is_evaluated_after = false;
};
constexpr std::array<StepOf, 7> varied{{{}, {}, {}, {.is_a_spike = true}, {.is_evaluated_after = true}, {}, {}}};

template <Recipe R> class Steps {
 public:
  explicit Steps(bool recorded) {
    step_.record_steps(recorded);
    if constexpr (has_teacher<objective_of<R>>) give_teacher(step_);
  }

  train::Ticket take(const StepOf& of) {
    ++number_;
    for (std::int64_t i = 0; i < of.micro_batches; ++i) {
      const auto sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(i) + number_) % 3;
      step_.accumulate(batch_from<R>(sequence), number_, {.index = i, .count = of.micro_batches});
    }
    StepSettings settings{.max_norm = 0.5, .loss_scaling = {.is_dynamic = true, .growth_steps = 2}};
    if (of.is_a_spike) settings.most_gradient_norm = 0;
    const train::Ticket ticket = step_.decide(settings);
    step_.update(hparams_, {.rate_times = static_cast<double>(number_), .rate_over = 7});
    return ticket;
  }
  void finish(const StepOf& of, train::Ticket ticket) {
    const StepOutcome outcome = step_.read(ticket);
    left_.losses.insert(left_.losses.end(), {outcome.loss, static_cast<double>(outcome.tokens), outcome.gradient_norm});
    left_.losses.insert(left_.losses.end(), outcome.metrics.begin(), outcome.metrics.end());
    left_.applied.push_back(outcome.applied);
    if (of.is_evaluated_after) left_.losses.push_back(step_.evaluate(batch_from<R>(1)).loss);
  }
  Left left() {
    std::vector<HostBuffer> of_parameters, of_state;
    left_.state = hash_of(downloaded(step_.parameters(), step_, of_parameters)) ^
                  hash_of(downloaded(step_.optimizer_state(), step_, of_state)) << 1;
    return left_;
  }
  train::Step<R>& step() { return step_; }
  Communicator& communicator() { return *communicator_; }

 private:
  std::unique_ptr<Communicator> communicator_ = one_rank();
  train::Step<R> step_{*communicator_, 2, 3};
  PolicyHparams hparams_ = PolicyHparams::of<typename R::optimizer::Hparams>();
  std::uint64_t number_ = 0;
  Left left_;
};

template <Recipe R> Left left_by(bool recorded, std::span<const StepOf> all = varied) {
  Steps<R> steps(recorded);
  for (const StepOf& of : all) steps.finish(of, steps.take(of));
  CHECK(steps.step().take_recording_note().empty());
  return steps.left();
}

/// @return how many graphs were launched
template <class R, class Device = device::Cuda> std::int64_t check_same_bits(std::span<const StepOf> all = varied) {
  const Left expected = left_by<On<R, Device>>(false, all);
  const std::int64_t before = gpu().counts().graphs;
  const Left recorded = left_by<On<R, Device>>(true, all);
  CHECK(recorded.losses == expected.losses);
  CHECK(recorded.applied == expected.applied);
  CHECK(recorded.state == expected.state);
  CHECK(gpu().take_races().empty());
  return gpu().counts().graphs - before;
}

}  // namespace

TEST_CASE("recorded steps leave the bits of others in every kind of recipe") {
  // The step behind an evaluation finds other units gathered than it was recorded with, where they are shared out.
  SECTION("bf16") { CHECK(check_same_bits<InBf16<Small<llama_like>>>() == 10); }
  SECTION("replicas") { CHECK(check_same_bits<Sharded<Small<gpt2_like>, sharding::Replicate>>() == 12); }
  SECTION("fp16") { CHECK(check_same_bits<InFp16>() == 10); }
  SECTION("fp8") { CHECK(check_same_bits<InFp8<Small<llama_like>>>() == 10); }
  SECTION("fp8, whose gradients are rounded where they are rotated back") {
    CHECK(check_same_bits<InFp8<InDocuments<PlainRotary<Small<llama_like>>>>>() == 10);
  }
  SECTION("preferences") { CHECK(check_same_bits<Preferring<Small<llama_like>>>() == 10); }
  SECTION("preferences whose logits are made twice") {
    CHECK(check_same_bits<InBf16<Preferring<Small<gpt2_like>>>, WithShortChunks>() == 10);
  }
  SECTION("a teacher") { CHECK(check_same_bits<InBf16<Taught<Small<llama_like>, Small<gpt2_like>>>>() == 10); }
  SECTION("a teacher whose logits come in chunks") {
    CHECK(check_same_bits<Taught<Small<gpt2_like>, Small<llama_like>>, WithShortChunks>() == 10);
  }
  SECTION("documents") { CHECK(check_same_bits<Documents>() == 10); }
  // Each tensor's update is told the learning rate.
  SECTION("many tensors") { CHECK(check_same_bits<Small<gpt2_like, 8>>() == 10); }
  SECTION("SGD") { CHECK(check_same_bits<WithSgd>() == 10); }
  SECTION("experts") { CHECK(check_same_bits<OfExperts>() == 10); }
}
TEST_CASE("recorded steps leave the bits of others where parameters, state and activations wait on the host") {
  CHECK(check_same_bits<KeptOnHost<InBf16<Small<llama_like, 4>>>>() == 10);
}
TEST_CASE("recorded steps leave the bits of others in every schedule of streams") {
  using R = OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>;
  const Left expected = left_by<R>(false);
  std::vector<Schedule> schedules{{Order::early}, {Order::kernels_first}, {Order::copies_first}};
  for (std::uint64_t seed = 0; seed < 6; ++seed) schedules.push_back({Order::random, seed});
  for (const Schedule& schedule : schedules) {
    CAPTURE(static_cast<int>(schedule.order), schedule.seed);
    gpu().set_schedule(schedule);
    CHECK(left_by<R>(true) == expected);
    gpu().set_schedule({});
  }
}
TEST_CASE("a run whose steps come to have another number of micro-batches records one of those") {
  const std::array<StepOf, 6> all{{{}, {}, {.micro_batches = 3}, {.micro_batches = 3}, {.micro_batches = 3}, {}}};
  CHECK(check_same_bits<Small<gpt2_like>>(all) == 4);
}

TEST_CASE("from the second step on a recorded step is two calls of CUDA and a copy each, and the host waits once") {
  Steps<OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>> steps(true);
  train::Ticket last = steps.take({});
  steps.step().read(last);
  const simulator::Counts first = gpu().counts();
  for (int i = 1; i <= 3; ++i) {
    const train::Ticket next = steps.take({});
    CHECK(gpu().counts().waits == first.waits + i - 1);
    CHECK(steps.step().read(last).applied);
    CHECK(gpu().counts().waits == first.waits + i);
    last = next;
  }
  const simulator::Counts now = gpu().counts();
  CHECK(now.allocations == first.allocations);
  CHECK(now.graphs == first.graphs + 6);
  CHECK(now.kernels == first.kernels);
  CHECK(now.products == first.products);
  CHECK(now.copies == first.copies + 9);  // that of the outcome is one
}

TEST_CASE("a step that can't be recorded runs as it does without, and says why") {
  using R = OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>;
  const Left expected = left_by<R>(false);
  const auto left_with = [](auto fail) {
    Steps<R> steps(true);
    fail();
    for (const StepOf& of : varied) steps.finish(of, steps.take(of));
    const std::string note = steps.step().take_recording_note();
    return std::pair(steps.left(), note);
  };
  const std::int64_t graphs = gpu().counts().graphs;
  const auto [refused, reason] = left_with([] { gpu().refuse_captures(1); });
  CHECK(refused == expected);
  CHECK(reason ==
        "steps are not recorded: [GPU-02] the GPU failed while recording a step (operation failed due to a "
        "previous error during capture); see the driver's messages on that machine");
  const auto [without_memory, why] = left_with([] { gpu().fail_allocation(0); });
  CHECK(without_memory == expected);
  CHECK(contains(why, "steps are not recorded: [GPU-05] "));
  CHECK(gpu().counts().graphs == graphs);
}

TEST_CASE("a step that is traced is given kernel by kernel, as its rows say when each was asked for") {
  Steps<OnGpu<Small<gpt2_like>>> steps(true);
  const auto graphs_of_step = [&] {
    const std::int64_t before = gpu().counts().graphs;
    steps.finish({}, steps.take({}));
    return gpu().counts().graphs - before;
  };
  CHECK(graphs_of_step() == 0);
  CHECK(graphs_of_step() == 2);
  Trace trace;
  steps.communicator().record(&trace);
  CHECK(graphs_of_step() == 0);
  steps.communicator().record(nullptr);
  CHECK(graphs_of_step() == 2);
}

}  // namespace monomorph::testing
