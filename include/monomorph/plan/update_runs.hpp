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
  bool side_by_side = false;  ///< with others of the unit, each of a batch in scratch memory of its own
};

/// The tensors of a unit that the optimiser transforms, those whose matrices have one shape behind each other.
template <class Optimizer> constexpr auto transformed_tensors(const ParameterLayout& layout) {
  const auto is_transformed = [&](int i) {
    return update_scope<Optimizer>(layout[i].parameter_class) == UpdateScope::matrices;
  };
  struct Tensors {
    int n = 0;
    std::array<int, ParameterLayout::capacity> at{};
  } tensors;
  std::array<bool, ParameterLayout::capacity> taken{};
  for (int i = 0; i < layout.size(); ++i)
    for (int j = i; j < layout.size(); ++j) {
      if (taken[j] || !is_transformed(i) || !is_transformed(j) || layout[j].matrix_shape() != layout[i].matrix_shape())
        continue;
      taken[j] = true;
      tensors.at[tensors.n++] = j;
    }
  return tensors;
}

/// Which matrices of a unit are transformed side by side, and how they share scratch memory.
class ScratchPlaces {
 public:
  /// @param batch_scratch as of the device: elements of scratch memory for a batch; 0: it has no batches
  constexpr explicit ScratchPlaces(std::int64_t batch_scratch) : most_(batch_scratch) {}
  /// A large matrix occupies the device alone. That is one of which four would not fit into a batch, were its scratch
  /// memory that of a square one, four times as large as the matrix; and without batches one that is better divided
  /// among threads than given to one of them.
  constexpr bool joins(Shape matrix) const {
    constexpr std::int64_t least_of_batch = 4, scratch_of_square = 4, most_of_thread = std::int64_t{1} << 16;
    return matrix.elements() <= (most_ == 0 ? most_of_thread : most_ / (least_of_batch * scratch_of_square));
  }
  /// A batch that is full is followed by another one in the same memory.
  /// @return the first element of the next matrix's scratch memory
  constexpr std::int64_t take(std::int64_t scratch) {
    if (most_ != 0 && end_ + scratch > most_) end_ = 0;
    end_ += scratch;
    needed_ = larger_of(needed_, end_);
    return end_ - scratch;
  }
  constexpr std::int64_t needed() const { return needed_; }

 private:
  std::int64_t most_, end_ = 0, needed_ = 0;
};

/// Calls f with the matrices of a unit that the optimiser transforms: first those that are transformed side by side,
/// then larger ones, which take turns with all of the scratch memory. That of matrices of one shape and one batch lies
/// equally far apart, as batches of products want it.
/// @return elements of scratch memory
template <class R>
constexpr std::int64_t for_each_transformed(int unit, auto&& f,
                                            std::int64_t batch_scratch = batch_scratch_elements<device_of<R>>()) {
  ScratchPlaces together(batch_scratch);
  std::int64_t longest = 0;
  if constexpr (updates_matrices<typename R::optimizer>) {
    if (!trains<R>(unit)) return 0;
    const ParameterLayout layout = stored_layout<R>(unit);
    const auto tensors = transformed_tensors<typename R::optimizer>(layout);
    for (const bool side_by_side : {true, false})
      for (int i = 0; i < tensors.n; ++i) {
        const TensorInfo& tensor = layout[tensors.at[i]];
        const Shape shape = tensor.matrix_shape();
        const std::int64_t scratch = R::optimizer::workspace_elements(shape);
        if (together.joins(shape) != side_by_side) continue;
        for (int k = 0; k < tensor.matrices; ++k) {
          const Slice matrix{tensor.slice.offset + k * shape.elements(), shape};
          const std::int64_t first = side_by_side ? together.take(scratch) : 0;
          f(TransformedMatrix{matrix, {first, {1, scratch}}, side_by_side});
        }
        if (!side_by_side) longest = larger_of(longest, scratch);
      }
  }
  return larger_of(together.needed(), longest);
}

/// What the optimiser multiplies to transform a unit's matrices.
template <class R> constexpr TransformWork transform_work(int unit) {
  TransformWork sum;
  for_each_transformed<R>(unit, [&](const TransformedMatrix& of) {
    const TransformWork work = monomorph::transform_work<typename R::optimizer>(of.matrix.shape);
    sum = {sum.flops + work.flops, work.dtype};
  });
  return sum;
}

/// Whether some of a unit's tensors are updated as whole matrices.
template <class R> constexpr bool transforms(int unit) {
  bool any = false;
  for_each_transformed<R>(unit, [&](const TransformedMatrix&) { any = true; });
  return any;
}

/// Scratch memory, in elements, of an update that transforms whole matrices; 0 without.
/// @param batch_scratch that of the device, where it is another one than the recipe's
template <class R>
constexpr std::int64_t optimizer_workspace_elements(
    std::int64_t batch_scratch = batch_scratch_elements<device_of<R>>()) {
  std::int64_t most = 0;
  for (int u = 0; u < n_units<R>; ++u)
    most = larger_of(most, for_each_transformed<R>(
                               u, [](const TransformedMatrix&) {}, batch_scratch));
  return most;
}

}  // namespace monomorph::plan
