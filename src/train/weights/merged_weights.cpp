#include "train/weights/merged_weights.hpp"

#include "train/weights/adapter_names.hpp"
#include "train/weights/stream_elements.hpp"

#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

std::vector<double> values_of(CheckpointWeights& weights, const std::string& name) {
  std::vector<double> values(static_cast<std::size_t>(weights.find(name)->elements()));
  weights.read(name, 0, {reinterpret_cast<std::byte*>(values.data()), DType::fp64, {1, std::ssize(values)}});
  return values;
}

}  // namespace

MergedWeights::MergedWeights(const std::string& path, const RecipeProgram& recipe)
    : CheckpointWeights(path, recipe), low_rank_(recipe.low_rank) {}

void MergedWeights::Adapter::add_to(std::int64_t row, std::int64_t first_col, std::int64_t n, double* values) const {
  for (std::int64_t k = 0; k < rank; ++k) {
    const double b = scaled_b_Oxr[static_cast<std::size_t>(row * rank + k)];
    const double* const a = &a_rxI[static_cast<std::size_t>(k * in + first_col)];
    for (std::int64_t i = 0; i < n; ++i) values[i] += b * a[i];
  }
}

const MergedWeights::Adapter* MergedWeights::adapter_of(const std::string& weight) {
  const auto names = low_rank_ == nullptr ? std::nullopt : adapter_names(weight);
  if (!names || find(names->a) == nullptr) return nullptr;
  if (adapter_.weight == weight) return &adapter_;
  const Shape a = *find(names->a);
  adapter_ = {weight, a.rows, a.cols, values_of(*this, names->a), values_of(*this, names->b)};
  for (double& b : adapter_.scaled_b_Oxr) b *= low_rank_scale(*low_rank_);
  return &adapter_;
}

void MergedWeights::read(const std::string& name, std::int64_t first, View to) {
  const Adapter* const adapter = adapter_of(name);
  if (adapter == nullptr) return CheckpointWeights::read(name, first, to);
  in_bounded_pieces(to.elements(), [&](std::int64_t done, std::int64_t n) {
    const View sums = sized(sums_, DType::fp64, {1, n});
    CheckpointWeights::read(name, first + done, sums);
    for (std::int64_t i = 0; i < n;) {
      const std::int64_t row = (first + done + i) / adapter->in, col = (first + done + i) % adapter->in;
      const std::int64_t length = std::min(n - i, adapter->in - col);
      adapter->add_to(row, col, length, sums.as<double>() + i);
      i += length;
    }
    cpu::copy(cpu::Queue{}, sums, View(to.data + done * size_of(to.dtype), to.dtype, {1, n}));
  });
}

void MergedWeights::read_columns(const std::string& name, std::int64_t first, View to) {
  const Adapter* const adapter = adapter_of(name);
  if (adapter == nullptr) return CheckpointWeights::read_columns(name, first, to);
  const View sums = sized(sums_, DType::fp64, to.shape);
  CheckpointWeights::read_columns(name, first, sums);
  for (std::int64_t row = 0; row < to.shape.rows; ++row)
    adapter->add_to(row, first, to.shape.cols, sums.as<double>() + row * to.shape.cols);
  cpu::copy(cpu::Queue{}, sums, to);
}

}  // namespace monomorph::train
