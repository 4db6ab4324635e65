#pragma once
#include <cstdint>
#include <monomorph/core/error.hpp>
#include <monomorph/core/owned.hpp>
#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/train/step/step_inputs.hpp>
#include <string>
#include <utility>

namespace monomorph::train {

/// Whether the device of a queue records what that is given (runtime/cuda/recording.hpp).
template <class Queue> concept RecordsSteps = requires(Queue queue) { recording(queue, std::int64_t{}); };

/// A step as a device has recorded it, in two parts between which an observer may look: up to the decision, and the
/// update. Whether the step that comes next is such a one follows from where the stores are, their Progress, and how
/// many micro-batches it has. What the host tells a step anew is kept where the recording finds it.
template <class Queue, class Progress> class RecordedStep {
  using Recording = decltype(recording(std::declval<Queue>(), std::int64_t{}));

 public:
  void use(bool wanted) { state_ = wanted ? State::wanted : State::unwanted; }
  std::string take_note() { return std::exchange(note_, {}); }

  /// A step begins.   @param input_bytes of all that the host tells it, and the most that there may be
  void begin(std::int64_t micro_batches, const Progress& progress, bool is_traced, std::int64_t input_bytes,
             std::int64_t most_input_bytes) {
    runs_ = state_ == State::recorded && !is_traced && micro_batches == micro_batches_ && progress == progress_;
    // A run whose steps have come to have another number of them.
    if (state_ == State::recorded && micro_batches != micro_batches_ && micro_batches == last_micro_batches_)
      state_ = State::wanted;
    last_micro_batches_ = micro_batches;
    is_kept_ = runs_ || (state_ == State::wanted && !is_traced);
    if (!is_kept_ || runs_) return;
    if (input_bytes > most_input_bytes)
      return give_up("its micro-batches have more tokens than the plan counts for it");
    micro_batches_ = micro_batches;
    input_bytes_ = input_bytes;
  }
  /// Whether the step runs as it was recorded, so that nothing else is to be given to the queue.
  bool runs() const { return runs_; }
  /// Whether it is to be recorded at its end.
  bool is_due() const { return is_kept_ && !runs_; }
  void keep(const MicroBatch& batch, std::uint64_t step, std::int64_t index, const BatchLimits& of) {
    if (is_kept_) inputs_.keep(batch, step, index, of);
  }
  const StepInputs& inputs() const { return inputs_; }
  std::int64_t micro_batches() const { return micro_batches_; }
  const ScheduledRate* rate() const { return &rate_; }

  void run_to_decision(Communicator& communicator) { run(communicator, to_decision_); }
  void run_update(Communicator& communicator, const ScheduledRate& rate) {
    rate_ = rate;
    run(communicator, update_);
  }

  /// Records the step that has just been given to the queue, by giving it once more: what the two functions give waits
  /// for no other stream at its beginning, and has waited for all at its end. Steps go on without where that fails on
  /// any rank, or does not leave the stores where they were. A collective must be recorded by all ranks or by none, so
  /// no rank begins before all have the memory that it takes.   @param forget after a failure
  void record(Queue queue, Communicator& communicator, auto progress, auto to_decision, auto update, auto forget) {
    progress_ = progress();
    const std::string no_place = reason_against([&] {
      make_place(queue, to_decision_, input_bytes_);
      make_place(queue, update_, most_update_bytes);
    });
    if (!all_can(communicator, no_place)) return;
    std::string reason = reason_against([&] {
      record_part(communicator, to_decision_, to_decision);
      record_part(communicator, update_, update);
    });
    if (!reason.empty())
      forget();
    else if (progress() != progress_)
      reason = "it does not end as it began";
    if (all_can(communicator, reason)) state_ = State::recorded;
  }

 private:
  static constexpr std::int64_t most_update_bytes = 4096;
  enum class State { unwanted, wanted, recorded };
  struct Part {
    Owned<Recording> recording;
    std::int64_t input_bytes = 0;  ///< for which it has place
    int collectives = 0;           ///< by which the communicator knows it
  };

  void give_up(const std::string& reason) {
    note_ = "steps are not recorded: " + reason;
    state_ = State::unwanted;
    is_kept_ = false;
  }
  /// @return why what act() does was not done; empty: it was   @throws RankFailure
  static std::string reason_against(auto act) {
    try {
      act();
    } catch (const RankFailure&) {
      throw;
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
  /// Whether no rank has a reason against it, or else no rank goes on with recording.
  bool all_can(Communicator& communicator, const std::string& reason) {
    std::int64_t failures[] = {reason.empty() ? 0 : 1};
    communicator.all_reduce_sum(failures);
    if (failures[0] != 0) give_up(reason.empty() ? "another rank could not" : reason);
    return failures[0] == 0;
  }
  static void make_place(Queue queue, Part& part, std::int64_t bytes) {
    if (part.recording && part.input_bytes >= bytes) return;
    if (part.recording) synchronize(queue);  // it may run
    part.recording = Owned<Recording>(new Recording(recording(queue, bytes)));
    part.input_bytes = bytes;
  }
  static void record_part(Communicator& communicator, Part& part, auto give) {
    part.recording->begin();
    communicator.begin_recording();
    try {
      give();
    } catch (...) {
      part.recording->abandon();
      communicator.end_recording();
      throw;
    }
    part.collectives = communicator.end_recording();
    part.recording->end();
  }
  static void run(Communicator& communicator, Part& part) {
    communicator.runs_recording(part.collectives);
    part.recording->run();
  }

  State state_ = State::unwanted;
  bool runs_ = false, is_kept_ = false;
  std::int64_t micro_batches_ = 0, last_micro_batches_ = 0, input_bytes_ = 0;
  Progress progress_{};
  StepInputs inputs_;
  ScheduledRate rate_;
  Part to_decision_, update_;
  std::string note_;
};

}  // namespace monomorph::train
