#pragma once
#include "numerics/preferences.hpp"
#include "numerics/teacher.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/hparams.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/cuda/device.hpp>

#include <cstdint>
#include <vector>

/// What tests of whole steps on a GPU share, be it one or a simulated one.
namespace monomorph::testing {

template <class R> using OnGpu = On<R, device::Cuda>;
/// Fails the test where streams have raced, as a simulated GPU notices. A real one does not.
void check_no_races();
/// A GPU on which few logits exist at a time.
struct WithShortChunks : device::Cuda {
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 16; }
};

/// The same model with fewer blocks and heads, to be quick.
template <class R, int n_blocks = 2> struct Small : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.n_layers = n_blocks;
    model.n_heads = 2;
    if (model.position == Position::rotary) model.n_kv_heads = 1;
    return model;
  }();
};
/// A context as short as products in fp8 allow.
template <class R> struct OfShortRows : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.context_length = 16;
    return model;
  }();
};
template <class R> struct InFp8 : OfShortRows<R> { using precision = precision::Fp8Mixed; };
/// R, whose student learns from a model of the sizes of another family.
template <class R, class Teacher> using Taught = TaughtBy<Padded<R>, Padded<Teacher>>;
template <class R> struct Recomputed : R { using checkpointing = checkpointing::EveryBlock; };
template <class R> struct KeptOnHost : R {
  using sharding = sharding::HostParameters<sharding::Replicate>;
  using checkpointing = checkpointing::Offload<>;
  using optimizer = optim::HostState<optim::AdamW>;
};

/// A step in use: each of its steps has two micro-batches, and clips its gradients.
template <Recipe R> class Training {
 public:
  Training() {
    if constexpr (has_teacher<objective_of<R>>) give_teacher(step_);
  }
  /// Asks for the next step.
  train::Ticket take_step() {
    ++number_;
    for (const std::int64_t i : {0, 1}) step_.accumulate(batch_from<R>(2 * i), number_, {.index = i, .count = 2});
    const train::Ticket ticket = step_.decide({.max_norm = 0.5});
    step_.update(hparams_, {});
    return ticket;
  }
  StepOutcome read(train::Ticket ticket) { return step_.read(ticket); }
  train::Step<R>& step() { return step_; }
  Communicator& communicator() { return *communicator_; }
  /// Of all that a run goes on from.
  std::uint64_t state_hash() {
    std::vector<HostBuffer> of_parameters, of_state;
    return hash_of(downloaded(step_.parameters(), step_, of_parameters)) ^
           hash_of(downloaded(step_.optimizer_state(), step_, of_state)) << 1;
  }

 private:
  std::unique_ptr<Communicator> communicator_ = one_rank();
  train::Step<R> step_{*communicator_, 2, 3};
  PolicyHparams hparams_ = PolicyHparams::of<typename R::optimizer::Hparams>();
  std::uint64_t number_ = 0;
};

template <Recipe R> std::vector<double> losses_of(int n_steps) {
  Training<R> training;
  std::vector<double> losses;
  for (int i = 0; i < n_steps; ++i) {
    const StepOutcome outcome = training.read(training.take_step());
    losses.push_back(outcome.mean(outcome.loss));
  }
  return losses;
}

}  // namespace monomorph::testing
