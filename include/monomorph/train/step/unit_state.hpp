#pragma once
#include <monomorph/plan/update_runs.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <span>

namespace monomorph::train {

/// What a rank holds of a canonical tensor: a run of the elements of a region of it.
struct TensorPart {
  std::string name;  ///< with "layers.<i>." before those of blocks
  TensorInfo info;
  std::uint32_t index;  ///< of the tensor in its unit
  Shape shape;          ///< of the whole tensor
  Region region;        ///< of a tensor of dims_of(shape)
  Slice slice;          ///< in this rank's buffers; of the region's shape if it is all of it, otherwise of one row
  std::int64_t first;   ///< element of the region with which the part begins
  std::size_t run = 0;  ///< of the optimiser's, in which it lies
  RegionRun held() const { return {region, first, slice.shape.elements()}; }
};

/// What the optimiser holds of a unit: flat views of this rank's shard of it, and what lies within. A frozen unit has
/// no gradient, no state and no runs.
struct UnitState {
  View master, gradient;
  View rounded;  ///< compute's copy of the parameters, if it is not the master itself
  View state;    ///< the optimiser's, run after run
  std::uint32_t unit = 0;
  std::vector<plan::UpdateRun> runs{};
  std::vector<TensorPart> tensors{};
};

/// Which buffers an optimiser keeps for a class.
using StateOfClass = StateBuffers (*)(ParameterClass);

/// Fills in tensors and runs.   @param block the number of the unit's block; negative if it is none
/// @param state_of null for a frozen unit   @param first element of the unit with which the shard begins
void describe(const ParameterLayout& layout, int unit, int block, StateOfClass state_of, std::int64_t first,
              UnitState& state);
/// What lies between a unit's tensors and behind them, in a buffer of `length` elements.
std::vector<Slice> gaps(const ParameterLayout& layout, std::int64_t length);
/// First values of all master parameters: each depends on the seed, the tensor and the element alone.
void initialize(auto queue, const UnitState& unit, std::uint64_t seed) {
  for (const TensorPart& part : unit.tensors) {
    const Initializer& initializer = part.info.initializer;
    const random::Stream stream{seed, random::Purpose::initialization, unit.unit, part.index};
    if (initializer.std == 0 && initializer.half_width == 0) {
      fill(queue, unit.master[part.slice], initializer.mean);
      continue;
    }
    for_each_shared_piece(part.held(), RegionRun::whole(dims_of(part.shape)),
                          [&](std::int64_t held, std::int64_t element, std::int64_t n) {
                            const Slice slice{part.slice.offset + held - part.first, {1, n}};
                            const auto place = static_cast<std::uint64_t>(element);
                            if (initializer.half_width > 0)
                              fill_uniform(queue, unit.master[slice], stream, place, initializer.half_width);
                            else
                              fill_normal(queue, unit.master[slice], stream, place, initializer.std,
                                          initializer.cutoff);
                          });
  }
}
/// The compute copy, from the master.
void round(auto queue, const UnitState& unit) {
  if (unit.rounded.present()) copy(queue, unit.master, unit.rounded);
}
/// What the optimiser is given of a run.
/// @param gradient of the shard, or what has taken its place
/// @param seed of the training run: what stochastic rounding depends on
ElementUpdate element_update(const UnitState& unit, const plan::UpdateRun& run, View gradient, StateOfClass state_of,
                             std::uint64_t seed);
std::vector<StateTensor> state_tensors(std::span<const UnitState> units, View UnitState::*buffer);
/// The optimiser's state, buffer after buffer.
std::vector<StateTensor> optimizer_tensors(std::span<const UnitState> units, StateOfClass state_of);

}  // namespace monomorph::train
