#pragma once
#include <monomorph/spec/tensor_info.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <span>

namespace monomorph::train {

/// Elements of a unit to which weight decay applies, or not: a multiple of 64 of them.
struct DecayRange {
  Slice slice;
  bool decays;
};

/// What a rank holds of a canonical tensor: all of it, or a run of its elements in the order of its rows.
struct TensorPart {
  std::string name;  ///< with "layers.<i>." before those of blocks
  TensorInfo info;
  std::uint32_t index;  ///< of the tensor in its unit
  Slice slice;          ///< in this rank's buffers; of the tensor's shape if it is all of it, otherwise of one row
  std::int64_t first;   ///< element of the tensor with which the part begins
};

/// What the optimiser holds of a unit: flat views of equal length, this rank's shard of it, and what lies within.
struct UnitState {
  View master, gradient, moment1, moment2;
  View rounded;  ///< compute's copy of the parameters, if it is not the master itself
  std::uint32_t unit = 0;
  std::int64_t first = 0;  ///< element of the unit with which the shard begins
  std::vector<DecayRange> ranges{};
  std::vector<TensorPart> tensors{};
};

/// Fills in tensors and ranges.
/// @param first element of the unit with which the shard begins
void describe(const ParameterLayout& layout, int unit, int n_blocks, bool (*decays)(ParameterClass), std::int64_t first,
              UnitState& state);
/// What lies between a unit's tensors and behind them, in a buffer of `length` elements.
std::vector<Slice> gaps(const ParameterLayout& layout, std::int64_t length);
/// First values of all parameters: each depends on the seed, the tensor and the element alone.
void initialize(const UnitState& unit, std::uint64_t seed);
void round(const UnitState& unit);  ///< the compute copy, from the master
/// @param seed of the run: what the stochastic rounding of a bf16 master depends on
void update(const UnitState& unit, const kernels::AdamWStep& step, std::uint64_t seed);
/// Of the replica's share of each shard, so that what several ranks hold is read by one of them.
GradientSize gradient_size(std::span<const UnitState> units, GradientNorm order, int replica, int replicas);
std::vector<StateTensor> state_tensors(std::span<const UnitState> units, const std::string& prefix,
                                       View UnitState::*buffer);

}  // namespace monomorph::train
