#include <monomorph/train/step/unit_state.hpp>

#include "train/step/tensor_name.hpp"

#include <monomorph/runtime/kernels/random.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

/// The part of a tensor that lies in a shard; a slice without elements if none does. The ranks split units into shards
/// and nothing else, so the region is the whole tensor.
TensorPart cut(const TensorInfo& tensor, std::int64_t first, std::int64_t length) {
  const std::int64_t elements = tensor.slice.shape.elements(), offset = tensor.slice.offset;
  const std::int64_t begin = std::max(offset, first), end = std::min(offset + elements, first + length);
  const std::int64_t n = std::max(end - begin, std::int64_t{0});
  const Shape whole = tensor.slice.shape, shape = n == elements ? whole : Shape{1, n};
  return {.name = "",
          .info = tensor,
          .index = 0,
          .shape = whole,
          .region = Region::whole(dims_of(whole)),
          .slice = {begin - first, shape},
          .first = begin - offset};
}

}  // namespace

void describe(const ParameterLayout& layout, int unit, int block, StateOfClass state_of, std::int64_t first,
              UnitState& state) {
  const std::int64_t length = state.master.elements();
  state.unit = static_cast<std::uint32_t>(unit);
  if (state_of != nullptr)
    plan::for_each_run(layout, first, length, state_of, [&](const plan::UpdateRun& run) { state.runs.push_back(run); });
  std::size_t run = 0;
  for (int i = 0; i < layout.size(); ++i) {
    TensorPart part = cut(layout[i], first, length);
    if (!part.slice.present()) continue;
    part.index = static_cast<std::uint32_t>(layout[i].index);
    part.name = tensor_name(layout[i].name, block);
    while (run < state.runs.size() && state.runs[run].first + state.runs[run].n <= part.slice.offset) ++run;
    part.run = run;
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

ElementUpdate element_update(const UnitState& unit, const plan::UpdateRun& run, View gradient, StateOfClass state_of,
                             std::uint64_t seed) {
  const Slice slice{run.first, {1, run.n}};
  ElementUpdate update{.gradient = gradient[slice],
                       .master = unit.master[slice],
                       .rounded = unit.rounded.present() ? unit.rounded[slice] : View{},
                       .parameter_class = run.parameter_class,
                       .noise_key = random::key_of({seed, random::Purpose::rounding, unit.unit}),
                       .first = static_cast<std::uint64_t>(run.place)};
  for (int k = 0; k < state_of(run.parameter_class).n; ++k)
    update.state[static_cast<std::size_t>(k)] = unit.state[Slice{run.state + k * run.n, {1, run.n}}];
  return update;
}

std::vector<StateTensor> state_tensors(std::span<const UnitState> units, View UnitState::*buffer) {
  std::vector<StateTensor> tensors;
  for (const UnitState& unit : units) {
    if (!(unit.*buffer).present()) continue;
    for (const TensorPart& part : unit.tensors)
      tensors.push_back({part.name, (unit.*buffer)[part.slice], part.shape, part.region, part.first});
  }
  return tensors;
}

std::vector<StateTensor> optimizer_tensors(std::span<const UnitState> units, StateOfClass state_of) {
  std::vector<StateTensor> tensors;
  for (int k = 0; k < StateBuffers::capacity; ++k)
    for (const UnitState& unit : units) {
      if (unit.runs.empty()) continue;
      for (const TensorPart& part : unit.tensors) {
        const StateBuffers buffers = state_of(part.info.parameter_class);
        if (k >= buffers.n) continue;
        const plan::UpdateRun& run = unit.runs[part.run];
        const Slice slice{run.state + k * run.n + part.slice.offset - run.first, part.slice.shape};
        tensors.push_back({std::string(buffers.names[static_cast<std::size_t>(k)]) + "." + part.name, unit.state[slice],
                           part.shape, part.region, part.first});
      }
    }
  return tensors;
}

}  // namespace monomorph::train
