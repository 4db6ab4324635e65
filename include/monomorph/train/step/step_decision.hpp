#pragma once
#include <cstdint>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>

namespace monomorph::train {

/// Names a step whose outcome can be read, or will be.
struct Ticket {
  std::uint64_t number = 0;
};

/// Joins the ranks' numbers of a step in one small collective, in which everything travels that ranks agree on in it;
/// a kernel decides by them. All of it takes its turn on the queue. The host is not asked: it may read the outcome
/// later, when others have been decided.
class StepDecision {
 public:
  /// @param of the ranks; its words and counters lie in the device's memory, as the scalars do
  StepDecision(Communicator& communicator, StepScalars* scalars, const StepWords& of)
      : communicator_(communicator), scalars_(scalars), words_(of) {}

  /// Gives each rank the greatest of all ranks' maxima.
  void join_maxima(auto queue, View maxima) {
    if (words_.n_ranks > 1) QueuedCommunicator(queue, communicator_).all_reduce_max(maxima);
  }

  /// What the decision that comes next is made by.
  Ticket note(const StepSettings& settings) {
    settings_ = settings;
    settings_.number = ++n_taken_;
    return {settings_.number};
  }
  /// The gradients' norm has been added up: gives the queue what decides by what was noted. Where the device records
  /// it, that may be noted anew.
  void give(auto queue) {
    if (words_.n_ranks > 1) {
      write_step_words(queue, scalars_, settings_, words_);
      QueuedCommunicator(queue, communicator_).all_reduce_sum(of_words());
      read_step_words(queue, scalars_, words_);
    }
    decide_step(queue, scalars_, settings_, words_.has_auxiliary_loss);
  }
  /// By which the last decision was made.
  const StepSettings& settings() const { return settings_; }
  /// Waits for it.   @param ticket the last, or the last but one   @throws RankFailure it could not be decided
  StepOutcome read(auto queue, Ticket ticket) const {
    HostBuffer buffer;
    const auto& outcomes = copy_to_host(queue, of_scalars(), buffer).template as<StepScalars>()->outcomes;
    communicator_.check();
    return outcomes[ticket.number % outcomes.size()];
  }

 private:
  View of_scalars() const { return view(scalars_, sizeof(StepScalars) / size_of(DType::fp64)); }
  View of_words() const {
    return view(words_.words,
                StepWords::count(words_.n_counters, words_.n_metrics, words_.has_auxiliary_loss, words_.n_ranks));
  }
  static View view(void* begin, std::int64_t n) { return {static_cast<std::byte*>(begin), DType::fp64, {1, n}}; }

  Communicator& communicator_;
  StepScalars* scalars_;
  StepWords words_;
  StepSettings settings_;  ///< of the last decision
  std::uint64_t n_taken_ = 0;
};

}  // namespace monomorph::train
