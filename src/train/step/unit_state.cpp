#include <monomorph/train/step/unit_state.hpp>

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

View share_of(View shard, int replica, int replicas) {
  const std::int64_t part = align_up((shard.elements() + replicas - 1) / replicas);
  const std::int64_t first = std::min(replica * part, shard.elements());
  return shard.columns(first, std::min(part, shard.elements() - first));
}

/// Of a shard that begins with element `first` of its unit.
std::vector<DecayRange> cut(const std::vector<DecayRange>& ranges, std::int64_t first, std::int64_t length) {
  std::vector<DecayRange> own;
  for (const auto& [slice, decays] : ranges) {
    const std::int64_t begin = std::max(slice.offset - first, std::int64_t{0});
    const std::int64_t end = std::min(slice.offset + slice.shape.cols - first, length);
    if (begin < end) own.push_back({{begin, {1, end - begin}}, decays});
  }
  return own;
}

/// The part of a tensor that lies in a shard; a slice without elements if none does.
TensorPart cut(const TensorInfo& tensor, std::int64_t first, std::int64_t length) {
  const std::int64_t elements = tensor.slice.shape.elements(), offset = tensor.slice.offset;
  const std::int64_t begin = std::max(offset, first), end = std::min(offset + elements, first + length);
  const std::int64_t n = std::max(end - begin, std::int64_t{0});
  const Shape shape = n == elements ? tensor.slice.shape : Shape{1, n};
  return {.name = "", .info = tensor, .index = 0, .slice = {begin - first, shape}, .first = begin - offset};
}

}  // namespace

void describe(const ParameterLayout& layout, int unit, int n_blocks, bool (*decays)(ParameterClass), std::int64_t first,
              UnitState& state) {
  const std::int64_t length = state.master.elements();
  state.unit = static_cast<std::uint32_t>(unit);
  state.first = first;
  state.ranges = cut(decay_ranges(layout, decays), first, length);
  for (int i = 0; i < layout.size(); ++i) {
    TensorPart part = cut(layout[i], first, length);
    if (!part.slice.present()) continue;
    part.index = static_cast<std::uint32_t>(i);
    part.name = full_name(layout[i].name, unit, n_blocks);
    state.tensors.push_back(std::move(part));
  }
}

std::vector<Slice> gaps(const ParameterLayout& layout, std::int64_t length) {
  std::vector<Slice> gaps;
  std::int64_t end = 0;  // of the tensors so far, which lie in order
  const auto add = [&](std::int64_t begin) {
    if (begin > end) gaps.push_back({end, {1, begin - end}});
  };
  for (const TensorInfo& tensor : layout) {
    add(tensor.slice.offset);
    end = tensor.slice.offset + tensor.slice.shape.elements();
  }
  add(length);
  return gaps;
}

void initialize(const UnitState& unit, std::uint64_t seed) {
  for (const TensorPart& part : unit.tensors) {
    const Initializer& initializer = part.info.initializer;
    const random::Stream stream{seed, random::Purpose::initialization, unit.unit, part.index};
    if (initializer.std > 0)
      random::normal(unit.master[part.slice], stream, static_cast<std::uint64_t>(part.first), initializer.std,
                     initializer.cutoff);
    else
      random::fill(unit.master[part.slice], initializer.mean);
  }
  round(unit);
}

void round(const UnitState& unit) {
  if (unit.rounded.present()) kernels::copy(unit.master, unit.rounded);
}

void update(const UnitState& unit, const kernels::AdamWStep& step, std::uint64_t seed) {
  const auto key = random::key_of({seed, random::Purpose::rounding, unit.unit});
  for (const auto& [slice, decays] : unit.ranges) {
    kernels::AdamWStep own = step;
    if (!decays) own.weight_decay = 0;
    kernels::adamw(unit.gradient[slice], unit.master[slice], unit.moment1[slice], unit.moment2[slice],
                   unit.rounded.present() ? unit.rounded[slice] : View{}, own,
                   {key, step.update, static_cast<std::uint64_t>(unit.first + slice.offset)});
  }
}

GradientSize gradient_size(std::span<const UnitState> units, GradientNorm order, int replica, int replicas) {
  GradientSize size;
  for (const UnitState& unit : units) {
    const View share = share_of(unit.gradient, replica, replicas);
    switch (order) {
      case GradientNorm::one:
        size.sum.add(kernels::sum_of_magnitudes(share));
        break;
      case GradientNorm::two:
        size.sum.add(kernels::sum_of_squares(share));
        break;
      case GradientNorm::infinity:
        const double greatest = kernels::greatest_magnitude(share);
        size.greatest = greatest > size.greatest || std::isnan(greatest) ? greatest : size.greatest;
    }
  }
  return size;
}

std::vector<StateTensor> state_tensors(std::span<const UnitState> units, const std::string& prefix,
                                       View UnitState::*buffer) {
  std::vector<StateTensor> tensors;
  for (const UnitState& unit : units)
    for (const TensorPart& part : unit.tensors)
      tensors.push_back({prefix + part.name, (unit.*buffer)[part.slice], part.info.slice.shape, part.first});
  return tensors;
}

}  // namespace monomorph::train
