#include "train/weights/load_weights.hpp"

#include "train/weights/quantized_weights.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/train/step/host_pieces.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

/// One tensor of a source in the shape that the recipe has for it.
class ResizedTensor {
 public:
  ResizedTensor(WeightsSource& source, const std::string& name, Shape shape, const WeightsHparams& choices)
      : source_(source),
        name_(name),
        shape_(shape_by_rows(name, shape)),
        there_(shape_by_rows(name, *source.find(name))),
        choices_(choices) {}

  /// How many elements from `first` on, of n, are given; the others stay as they are.
  std::int64_t given(std::int64_t first, std::int64_t n) const {
    const bool keeps_none = interpolates() || gives_new_rows();
    return keeps_none ? n : std::clamp<std::int64_t>(there_.elements() - first, 0, n);
  }
  void read(std::int64_t first, View to) {
    if (interpolates()) return interpolate(first, to);
    const std::int64_t from_source = std::clamp<std::int64_t>(there_.elements() - first, 0, to.elements());
    if (from_source > 0) source_.read(name_, first, part(to, 0, from_source));
    if (from_source < to.elements()) give_row(first + from_source, part(to, from_source, to.elements() - from_source));
  }

 private:
  bool has_other_rows() const { return there_.rows != shape_.rows; }
  bool interpolates() const {
    return has_other_rows() && name_ == position_table && choices_.positions.value == PositionRows::interpolated;
  }
  bool gives_new_rows() const {
    return has_other_rows() &&
           (choices_.vocabulary.value == VocabularyRows::mean || choices_.vocabulary.value == VocabularyRows::zero);
  }

  static View part(View view, std::int64_t first, std::int64_t n) {
    return {view.data + first * size_of(view.dtype), view.dtype, {1, n}};
  }

  /// Rows one after the other, in fp64.
  std::vector<double> rows(std::int64_t first, std::int64_t n) {
    std::vector<double> values(static_cast<std::size_t>(n * there_.cols));
    source_.read(name_, first * there_.cols,
                 View(reinterpret_cast<std::byte*>(values.data()), DType::fp64, {1, n * there_.cols}));
    return values;
  }
  std::vector<double> new_row() {
    if (choices_.vocabulary.value == VocabularyRows::mean) return mean_row();
    return std::vector<double>(static_cast<std::size_t>(there_.cols));
  }
  std::vector<double> mean_row() {
    std::vector<double> mean(static_cast<std::size_t>(there_.cols));
    const std::int64_t at_a_time = std::max<std::int64_t>(1, elements_at_a_time / there_.cols);
    for (std::int64_t first = 0; first < there_.rows; first += at_a_time) {
      const std::vector<double> values = rows(first, std::min(at_a_time, there_.rows - first));
      for (std::size_t i = 0; i < values.size(); ++i) mean[i % mean.size()] += values[i];
    }
    for (double& value : mean) value /= static_cast<double>(there_.rows);
    return mean;
  }
  static void put(double value, View to, std::int64_t i) {
    cpu::copy(cpu::Queue{}, View(reinterpret_cast<std::byte*>(&value), DType::fp64, {1, 1}), part(to, i, 1));
  }

  /// What all rows are that are not there, computed once.
  void give_row(std::int64_t first, View to) {
    if (new_row_.empty()) new_row_ = new_row();
    for (std::int64_t i = 0; i < to.elements(); ++i)
      put(new_row_[static_cast<std::size_t>((first + i) % shape_.cols)], to, i);
  }

  /// Linear between the two rows that are nearest; the first and the last position keep theirs.
  void interpolate(std::int64_t first, View to) {
    const std::int64_t cols = shape_.cols;
    const double step =
        shape_.rows > 1 ? static_cast<double>(there_.rows - 1) / static_cast<double>(shape_.rows - 1) : 0;
    const auto lower_of = [&](std::int64_t position) {
      return std::min(static_cast<std::int64_t>(static_cast<double>(position) * step), there_.rows - 1);
    };
    const std::int64_t first_row = lower_of(first / cols),
                       last_row = std::min(lower_of((first + to.elements() - 1) / cols) + 1, there_.rows - 1);
    const std::vector<double> near = rows(first_row, last_row - first_row + 1);
    for (std::int64_t i = 0; i < to.elements(); ++i) {
      const std::int64_t position = (first + i) / cols, col = (first + i) % cols, lower = lower_of(position),
                         upper = std::min(lower + 1, there_.rows - 1);
      const double from_lower = near[static_cast<std::size_t>((lower - first_row) * cols + col)],
                   from_upper = near[static_cast<std::size_t>((upper - first_row) * cols + col)];
      const double fraction = static_cast<double>(position) * step - static_cast<double>(lower);
      put(from_lower + fraction * (from_upper - from_lower), to, i);
    }
  }

  WeightsSource& source_;
  const std::string& name_;
  Shape shape_, there_;
  const WeightsHparams& choices_;
  std::vector<double> new_row_;
};

/// What a rank holds of a tensor, in the pieces that are consecutive in the whole of it.
void load_tensor(const StateTensor& tensor, ResizedTensor& from, HostPieces& pieces, NonFiniteNumbers& numbers) {
  const auto load_piece = [&](std::int64_t held, std::int64_t element, std::int64_t n) {
    in_bounded_pieces(from.given(element, n), [&](std::int64_t done, std::int64_t length) {
      const View view(tensor.view.data + (held - tensor.first + done) * size_of(tensor.view.dtype), tensor.view.dtype,
                      {1, length});
      pieces.write(view, [&](const HostPieces::Piece& piece) {
        from.read(element + done + piece.first, piece.view);
        count_non_finite(tensor.name, piece.view, numbers);
      });
    });
  };
  for_each_shared_piece(tensor.held(), RegionRun::whole(dims_of(tensor.shape)), load_piece);
}

}  // namespace

NonFiniteNumbers load_weights(WeightsSource& source, const WeightsHparams& choices,
                              const std::vector<StateTensor>& tensors, HostAccess& there) {
  NonFiniteNumbers numbers;
  HostPieces pieces(there);
  for (const StateTensor& tensor : tensors) {
    if (source.find(tensor.name) == nullptr) continue;  // an adapter's: check_tensors lets nothing else be missing
    ResizedTensor from(source, tensor.name, tensor.shape, choices);
    load_tensor(tensor, from, pieces, numbers);
  }
  return numbers;
}

NonFiniteNumbers load_weights(WeightsSource& source, const WeightsHparams& choices, TrainingStep& step) {
  NonFiniteNumbers numbers = load_weights(source, choices, step.parameters(), step);
  for (const QuantizedMatrix& matrix : step.quantized())
    put(quantized(source, matrix.name, matrix.dtype).matrix(), matrix, step);
  step.parameters_changed();
  return numbers;
}

}  // namespace monomorph::train
