#include <monomorph/train/unit_state.hpp>

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

std::string full_name(std::string_view name, int unit, int n_blocks) {
  const bool is_block = unit >= 1 && unit <= n_blocks;
  return is_block ? "layers." + std::to_string(unit - 1) + "." + std::string(name) : std::string(name);
}

/// Ranges begin where the class's decay changes, which is at the begin of a slice; padding belongs to what it follows.
std::vector<DecayRange> decay_ranges(const ParameterLayout& layout, bool (*decays)(ParameterClass)) {
  std::vector<DecayRange> ranges;
  for (const TensorInfo& tensor : layout) {
    const bool decay = decays(tensor.parameter_class);
    if (!ranges.empty() && ranges.back().decays == decay) continue;
    ranges.push_back({{tensor.slice.offset, {1, 0}}, decay});
  }
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::int64_t end = i + 1 < ranges.size() ? ranges[i + 1].slice.offset : layout.elements;
    ranges[i].slice.shape.cols = end - ranges[i].slice.offset;
  }
  return ranges;
}

double norm_of(View gradient, GradientNorm order) {
  switch (order) {
    case GradientNorm::one:
      return kernels::sum_of_magnitudes(gradient);
    case GradientNorm::two:
      return kernels::sum_of_squares(gradient);
    case GradientNorm::infinity:
      return kernels::greatest_magnitude(gradient);
  }
  return 0;
}

}  // namespace

void describe(const ParameterLayout& layout, int unit, int n_blocks, bool (*decays)(ParameterClass), UnitState& state) {
  state.unit = static_cast<std::uint32_t>(unit);
  state.ranges = decay_ranges(layout, decays);
  state.tensors.assign(layout.begin(), layout.end());
  for (const TensorInfo& tensor : layout) state.names.push_back(full_name(tensor.name, unit, n_blocks));
}

void initialize(const UnitState& unit, std::uint64_t seed) {
  for (std::uint32_t i = 0; i < unit.tensors.size(); ++i) {
    const auto& [name, slice, parameter_class, initializer] = unit.tensors[i];
    const random::Stream stream{seed, random::Purpose::initialization, unit.unit, i};
    if (initializer.std > 0)
      random::normal(unit.master[slice], stream, 0, initializer.std, initializer.cutoff);
    else
      random::fill(unit.master[slice], initializer.mean);
  }
  round(unit);
}

void round(const UnitState& unit) {
  if (unit.rounded.present()) kernels::copy(unit.master, unit.rounded);
}

void update(const UnitState& unit, const kernels::AdamWStep& step) {
  for (const auto& [slice, decays] : unit.ranges) {
    kernels::AdamWStep own = step;
    if (!decays) own.weight_decay = 0;
    kernels::adamw(unit.gradient[slice], unit.master[slice], unit.moment1[slice], unit.moment2[slice],
                   unit.rounded.present() ? unit.rounded[slice] : View{}, own);
  }
}

double gradient_norm(std::span<const UnitState> units, GradientNorm order) {
  double sum = 0;
  for (const UnitState& unit : units) {
    const double norm = norm_of(unit.gradient, order);
    if (order == GradientNorm::infinity)
      sum = norm > sum || std::isnan(norm) ? norm : sum;
    else
      sum += norm;
  }
  return order == GradientNorm::two ? std::sqrt(sum) : sum;
}

std::vector<StateTensor> state_tensors(std::span<const UnitState> units, const std::string& prefix,
                                       View UnitState::*buffer) {
  std::vector<StateTensor> tensors;
  for (const UnitState& unit : units)
    for (std::size_t i = 0; i < unit.tensors.size(); ++i)
      tensors.push_back({prefix + unit.names[i], (unit.*buffer)[unit.tensors[i].slice]});
  return tensors;
}

}  // namespace monomorph::train
