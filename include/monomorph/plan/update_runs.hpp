#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

/// How the optimiser goes through a unit: in runs of elements, each of tensors of one class and one group that lie side
/// by side in Params, too, with what pads them.
namespace monomorph::plan {

struct UpdateRun {
  std::int64_t first = 0, n = 0;  ///< elements, of the unit or of a shard of it
  ParameterClass parameter_class{};
  int group = TensorInfo::no_group;
  std::int64_t place = 0;  ///< of the first element, counted as in Params
  std::int64_t state = 0;  ///< element of the shard's state with which that of the run begins, buffer after buffer
};

/// Calls f with the runs that lie in a shard, in order, first elements counted from the shard's own.
/// @param begin element of the unit with which the shard begins
constexpr void for_each_run(const ParameterLayout& layout, std::int64_t begin, std::int64_t length,
                            StateBuffers (*state)(ParameterClass), auto&& f) {
  std::int64_t of_state = 0;
  for (int i = 0; i < layout.size();) {
    const ParameterClass parameter_class = layout[i].parameter_class;
    const std::int64_t from = layout[i].slice.offset;
    const int group = layout[i].group;
    const std::int64_t moved = layout[i].moved;
    while (i < layout.size() && layout[i].parameter_class == parameter_class && layout[i].group == group &&
           layout[i].moved == moved)
      ++i;
    const std::int64_t to = i < layout.size() ? layout[i].slice.offset : layout.elements;
    const std::int64_t first = larger_of(from - begin, 0), end = smaller_of(to - begin, length);
    if (first >= end) continue;
    f(UpdateRun{first, end - first, parameter_class, group, begin + first - moved, of_state});
    of_state += state(parameter_class).n * (end - first);
  }
}

/// Elements of optimiser state for a unit: what the shard that needs the most of it needs.
/// @param part elements of a shard
template <class Optimizer>
constexpr std::int64_t state_elements(const ParameterLayout& layout, std::int64_t part, int shards) {
  const int n = Optimizer::state(ParameterClass::linear).n;
  bool is_uniform = true;
  for (const ParameterClass c : all_parameter_classes) is_uniform = is_uniform && Optimizer::state(c).n == n;
  if (is_uniform) return n * part;  // known without a look at each shard
  std::int64_t most = 0;
  for (int shard = 0; shard < shards && shard * part < layout.elements; ++shard) {
    std::int64_t elements = 0;
    for_each_run(layout, shard * part, part, state_buffers<Optimizer>, [&](const UpdateRun& run) {
      elements = run.state + state_buffers<Optimizer>(run.parameter_class).n * run.n;
    });
    most = larger_of(most, elements);
  }
  return most;
}

/// A matrix that the optimiser transforms, and its scratch memory: slices of the unit and of the workspace.
struct TransformedMatrix {
  Slice matrix, workspace;
};
/// Matrices of no more elements are transformed side by side, each on one thread; a larger one is divided among
/// threads.
inline constexpr std::int64_t most_side_by_side = std::int64_t{1} << 16;

/// Calls f with the matrices of a unit that the optimiser transforms: first those that are transformed side by side,
/// each with scratch memory of its own, then the others, which take turns with all of it.
/// @return elements of scratch memory
template <class R> constexpr std::int64_t for_each_transformed(int unit, auto&& f) {
  std::int64_t together = 0, longest = 0;
  if constexpr (updates_matrices<typename R::optimizer>) {
    if (!trains<R>(unit)) return 0;
    const ParameterLayout layout = stored_layout<R>(unit);
    for (const bool side_by_side : {true, false})
      for (const TensorInfo& tensor : layout) {
        const Shape shape = tensor.matrix_shape();
        const bool is_small = shape.elements() <= most_side_by_side;
        if (is_small != side_by_side ||
            update_scope<typename R::optimizer>(tensor.parameter_class) != UpdateScope::matrices)
          continue;
        const std::int64_t needed = R::optimizer::workspace_elements(shape);
        for (int i = 0; i < tensor.matrices; ++i) {
          const Slice matrix{tensor.slice.offset + i * shape.elements(), shape};
          f(TransformedMatrix{matrix, {is_small ? together : 0, {1, needed}}});
          if (is_small)
            together += needed;
          else
            longest = larger_of(longest, needed);
        }
      }
  }
  return larger_of(together, longest);
}

/// Whether some of a unit's tensors are updated as whole matrices.
template <class R> constexpr bool transforms(int unit) {
  bool any = false;
  for_each_transformed<R>(unit, [&](const TransformedMatrix&) { any = true; });
  return any;
}

/// Scratch memory, in elements, of an update that transforms whole matrices; 0 without.
template <class R> constexpr std::int64_t optimizer_workspace_elements() {
  std::int64_t most = 0;
  for (int u = 0; u < n_units<R>; ++u)
    most = larger_of(most, for_each_transformed<R>(u, [](const TransformedMatrix&) {}));
  return most;
}

}  // namespace monomorph::plan
