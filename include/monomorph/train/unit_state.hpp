#pragma once
#include <monomorph/block/tensor_info.hpp>
#include <monomorph/train/training_step.hpp>
#include <span>

namespace monomorph::train {

/// Elements of a unit to which weight decay applies, or not: a multiple of 64 of them.
struct DecayRange {
  plan::Slice slice;
  bool decays;
};

/// What the optimiser holds of a unit: flat views of equal length, and the canonical tensors within.
struct UnitState {
  View master, gradient, moment1, moment2;
  View rounded;  ///< compute's copy of the parameters, if it is not the master itself
  std::uint32_t unit = 0;
  std::vector<DecayRange> ranges{};
  std::vector<TensorInfo> tensors{};
  std::vector<std::string> names{};  ///< of the tensors, with "layers.<i>." before those of blocks
};

/// Fills in names, tensors and ranges.
void describe(const ParameterLayout& layout, int unit, int n_blocks, bool (*decays)(ParameterClass), UnitState& state);
/// First values of all parameters: each depends on the seed, the tensor and the element alone.
void initialize(const UnitState& unit, std::uint64_t seed);
void round(const UnitState& unit);  ///< the compute copy, from the master
void update(const UnitState& unit, const kernels::AdamWStep& step);
double gradient_norm(std::span<const UnitState> units, GradientNorm order);
std::vector<StateTensor> state_tensors(std::span<const UnitState> units, const std::string& prefix,
                                       View UnitState::*buffer);

}  // namespace monomorph::train
