#pragma once
#include <array>
#include <cstdint>
#include <monomorph/spec/layout.hpp>
#include <string_view>

namespace monomorph {

/// What a parameter is to the optimiser: a matrix of a block, a table of tokens or positions, a norm's weight, a bias,
/// or the matrix that makes logits, if it is not the table. Of the last class, state, the optimiser sees nothing: it
/// has no gradient, and the block itself updates it after a step, from what it has counted.
enum class ParameterClass { linear, embedding, norm, bias, head, state };

/// How a parameter starts: normal(mean, std), truncated at ± cutoff · std if cutoff is positive. With std 0 it is the
/// constant mean, or uniform in ± half_width if that is positive.
struct Initializer {
  double mean = 0, std = 0, cutoff = 0, half_width = 0;
};

/// A canonical tensor: unfused, in the meaning (and orientation: out × in) that checkpoints and tests speak of. It is
/// contiguous in its unit's flat buffer. Several matrices of the same shape may lie in it, one below the other: an
/// optimiser that transforms matrices transforms each alone.
struct TensorInfo {
  std::string_view name;
  Slice slice;
  ParameterClass parameter_class = ParameterClass::linear;
  Initializer initializer;
  int matrices = 1;
  int group = no_group;  ///< of those that the optimiser lists, see plan/parameter_groups.hpp
  static constexpr int no_group = -1;
  int index = 0;             ///< of the unit's tensors, in the order of Params
  std::int64_t storage = 0;  ///< where the slice begins that kernels use, of which this tensor is all or a part
  std::int64_t moved = 0;    ///< behind its place in Params, see plan/stored_units.hpp
  bool is_parameter = true;  ///< false: what a block keeps of its own arithmetic, which no count of parameters has
  constexpr Shape matrix_shape() const { return {matrices > 0 ? slice.shape.rows / matrices : 0, slice.shape.cols}; }
};

/// The flat buffer of a unit: slices as the kernels use them (fused, padded), and the canonical tensors within.
class ParameterLayout : public Layout {
 public:
  static constexpr int capacity = 40;  // a block with sandwich norms, experts and every option has 34
  constexpr int size() const { return n_tensors_; }
  constexpr const TensorInfo& operator[](int i) const { return tensors_[i]; }
  constexpr const TensorInfo* begin() const { return tensors_.data(); }
  constexpr const TensorInfo* end() const { return tensors_.data() + n_tensors_; }
  constexpr std::int64_t parameters() const {
    std::int64_t sum = 0;
    for (int i = 0; i < n_tensors_; ++i) sum += tensors_[i].is_parameter ? tensors_[i].slice.shape.elements() : 0;
    return sum;
  }

  constexpr void assign_group(int tensor, int group) { tensors_[tensor].group = group; }

  /// A slice that is one canonical tensor.
  constexpr Slice take_tensor(std::string_view name, Shape shape, ParameterClass parameter_class,
                              Initializer initializer) {
    const Slice slice = take(shape);
    add_part(name, slice, 0, shape.rows, parameter_class, initializer);
    return slice;
  }
  /// What a block keeps of its own arithmetic from step to step. It starts with zeros.
  constexpr Slice take_record(std::string_view name, Shape shape) {
    const Slice slice = take_tensor(name, shape, ParameterClass::state, {});
    if (n_tensors_ <= capacity) tensors_[n_tensors_ - 1].is_parameter = false;
    return slice;
  }
  /// The same as take_tensor, of n matrices one below the other.
  constexpr Slice take_stacked(std::string_view name, int n, Shape matrix, ParameterClass parameter_class,
                               Initializer initializer) {
    const Slice slice = take({n * matrix.rows, matrix.cols});
    add({name, slice, parameter_class, initializer, n}, slice);
    return slice;
  }
  /// Some rows of a slice that are a canonical tensor.
  constexpr void add_part(std::string_view name, Slice whole, std::int64_t first_row, std::int64_t rows,
                          ParameterClass parameter_class, Initializer initializer) {
    const std::int64_t offset = whole.offset + first_row * whole.shape.cols;
    add({name, {offset, {rows, whole.shape.cols}}, parameter_class, initializer}, whole);
  }
  /// Some columns of a slice of one row (a fused bias).
  constexpr void add_bias_part(std::string_view name, Slice whole, std::int64_t first, std::int64_t n) {
    add({name, {whole.offset + first, {1, n}}, ParameterClass::bias, {}}, whole);
  }
  /// A tensor of another layout, at another place.   @param storage where its kernels' slice begins here
  constexpr void add_moved(TensorInfo tensor, std::int64_t storage) {
    const std::int64_t by = storage - tensor.storage;
    tensor.slice.offset += by, tensor.storage += by, tensor.moved += by;
    append(tensor);
  }

 private:
  constexpr void add(TensorInfo tensor, Slice of_kernels) {
    tensor.index = n_tensors_;
    tensor.storage = of_kernels.offset;
    append(tensor);
  }
  constexpr void append(const TensorInfo& tensor) {
    if (n_tensors_ < capacity) tensors_[n_tensors_] = tensor;
    ++n_tensors_;  // beyond its capacity, too: LAYER-06 speaks
  }
  std::array<TensorInfo, capacity> tensors_{};
  int n_tensors_ = 0;
};

}  // namespace monomorph
