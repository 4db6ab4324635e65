#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>

namespace monomorph::plan {

enum class PassKind { forward, backward };
struct Operation {
  PassKind pass;
  std::int64_t micro_batch;
  friend constexpr bool operator==(const Operation&, const Operation&) = default;
};

/// The order in which a stage of a pipeline takes a step's micro-batches through forward and backward, in closed form:
/// one forward, one backward (PipeDream-Flush; Narayanan et al. 2021, "Efficient large-scale language model training on
/// GPU clusters using Megatron-LM", section 2.2.1). A model in one stage goes forward and backward with one micro-batch
/// after the other.
struct Schedule {
  std::int64_t micro_batches;
  int stage = 0, stages = 1;

  /// Forward passes before the first backward, which has to come back from the last stage.
  constexpr std::int64_t warm_up() const { return smaller_of(stages - 1 - stage, micro_batches); }
  /// Micro-batches whose activations exist at a time.
  constexpr std::int64_t in_flight() const { return smaller_of(warm_up() + 1, micro_batches); }
  constexpr std::int64_t size() const { return 2 * micro_batches; }
  constexpr Operation operator[](std::int64_t i) const {
    const std::int64_t after = i - warm_up(), steady = 2 * (micro_batches - warm_up());
    if (after < 0) return {PassKind::forward, i};
    if (after >= steady) return {PassKind::backward, steady / 2 + after - steady};
    return after % 2 == 0 ? Operation{PassKind::forward, warm_up() + after / 2}
                          : Operation{PassKind::backward, after / 2};
  }
};

}  // namespace monomorph::plan
