#pragma once
#include <cstdint>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>
#include <span>
#include <vector>

namespace monomorph::train {

/// Names a step whose outcome can be read, or will be.
struct Ticket {
  std::uint64_t number = 0;
};

/// Joins the ranks' numbers of a step in one small collective, in which everything travels that ranks agree on in it;
/// a kernel decides by them. Alone, the host is not asked: it may read the outcome later, when others have been
/// decided.
class StepDecision {
 public:
  /// @param counters of the blocks: this rank's become those of all ranks
  /// @param n_metrics of the objective   @param has_auxiliary_loss whether a block has one
  StepDecision(Communicator& communicator, StepScalars* scalars, std::span<std::int64_t> counters,
               std::size_t n_metrics, bool has_auxiliary_loss);

  /// The gradients' norm has been added up.
  Ticket take(auto queue, StepSettings settings) {
    const Ticket ticket{++n_taken_};
    if (communicator_.size() > 1) {
      HostBuffer for_scalars, for_counters;
      const View scalars = copy_to_host(queue, of_scalars(), for_scalars);
      const View counters = copy_to_host(queue, of_counters(), for_counters);
      join_ranks(*scalars.as<StepScalars>(), {counters.as<std::int64_t>(), counters_.size()}, settings);
      copy_from_host(queue, scalars, of_scalars());
      copy_from_host(queue, counters, of_counters());
    }
    decide_step(queue, scalars_, settings, has_auxiliary_loss_, ticket.number);
    return ticket;
  }
  /// Waits for it.   @param ticket the last, or the last but one
  StepOutcome read(auto queue, Ticket ticket) const {
    HostBuffer buffer;
    const auto& outcomes = copy_to_host(queue, of_scalars(), buffer).template as<StepScalars>()->outcomes;
    return outcomes[ticket.number % outcomes.size()];
  }

 private:
  View of_scalars() const { return words(scalars_, sizeof(StepScalars) / size_of(DType::fp64)); }
  View of_counters() const { return words(counters_.data(), counters_.size()); }
  static View words(void* begin, std::size_t n) {
    return {static_cast<std::byte*>(begin), DType::fp64, {1, static_cast<std::int64_t>(n)}};
  }
  /// What one rank has of a step becomes what all have.
  void join_ranks(StepScalars& scalars, std::span<std::int64_t> counters, StepSettings& settings);

  Communicator& communicator_;
  StepScalars* scalars_;
  std::span<std::int64_t> counters_;
  std::size_t n_metrics_;
  bool has_auxiliary_loss_;
  std::vector<std::int64_t> words_;
  std::uint64_t n_taken_ = 0;
};

}  // namespace monomorph::train
