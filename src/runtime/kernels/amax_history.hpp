#pragma once
#include <monomorph/runtime/kernels/optimizer.hpp>

#include "runtime/kernels/fp8.hpp"

namespace monomorph {
namespace {

/// What a run of a unit's elements has of a history of maxima: a row for each tensor, of which every update writes one
/// element, and the next update the next.   @tparam M element of master parameters
template <class M> struct HistoryRun {
  M* master;
  BFloat16* rounded;    ///< compute's copy of these, or null
  std::int64_t before;  ///< elements of the unit between the begin of the run and that of the history
  std::int64_t n;       ///< of the run
  std::int64_t updates;

  HistoryRun(const ElementUpdate& run, std::int64_t first, Shape history)
      : master(run.master.as<M>()),
        rounded(run.rounded.as<BFloat16>()),
        before(first - static_cast<std::int64_t>(run.first)),
        n(run.master.elements()),
        updates(history.cols) {}

  /// Both copies are exact: the maximum is one of bf16 elements.
  MONOMORPH_HOST_DEVICE void record(std::int64_t row, std::int64_t maximum, const UpdateDecision& decision) const {
    const std::int64_t place = (static_cast<std::int64_t>(decision.update) - 1) % updates,
                       element = before + row * updates + place;
    if (!decision.applies || element < 0 || element >= n) return;
    if constexpr (sizeof(M) >= sizeof(float))
      master[element] = static_cast<M>(of_magnitude(maximum));
    else
      narrow(of_magnitude(maximum), master[element]);
    if (rounded != nullptr) rounded[element] = narrow_to_bf16(of_magnitude(maximum));
  }
};

}  // namespace
}  // namespace monomorph
