#include "support/tensors.hpp"

#include <monomorph/core/xxh64.hpp>

#include <c10/util/Half.h>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace monomorph::testing {
namespace {

constexpr double incomparable = std::numeric_limits<double>::infinity();  // an error larger than any

std::uint16_t bf16_bits(double value) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

double element(View view, std::int64_t i) {
  switch (view.dtype) {
    case DType::fp64:
      return view.as<double>()[i];
    case DType::fp32:
      return view.as<float>()[i];
    case DType::bf16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(view.as<std::uint16_t>()[i]) << 16);
    case DType::fp16:
      return static_cast<float>(view.as<c10::Half>()[i]);
    case DType::u8:
      return view.as<std::uint8_t>()[i];
    case DType::e4m3:
    case DType::e5m2:
      break;  // of no tensor of a step
  }
  return 0;
}

void set_element(View view, std::int64_t i, double value) {
  switch (view.dtype) {
    case DType::fp64:
      view.as<double>()[i] = value;
      return;
    case DType::fp32:
      view.as<float>()[i] = static_cast<float>(value);
      return;
    case DType::bf16:
      view.as<std::uint16_t>()[i] = bf16_bits(value);
      return;
    case DType::fp16:
      view.as<c10::Half>()[i] = static_cast<c10::Half>(static_cast<float>(value));
      return;
    case DType::u8:
      view.as<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
      return;
    case DType::e4m3:
    case DType::e5m2:
      return;
  }
}

/// Calls f(index in row-major order, index in the view's memory).
template <class F> void for_each_element(View view, F f) {
  for (std::int64_t row = 0; row < view.shape.rows; ++row)
    for (std::int64_t col = 0; col < view.shape.cols; ++col)
      f(static_cast<std::size_t>(row * view.shape.cols + col), row * view.stride + col);
}

void join(Tensors& tensors, const std::string& prefix, std::initializer_list<const char*> parts, const char* whole) {
  Values joined;
  for (const char* const part : parts) {
    const auto found = tensors.find(prefix + part);
    if (found == tensors.end()) return;
    joined.insert(joined.end(), found->second.begin(), found->second.end());
    tensors.erase(found);
  }
  tensors[prefix + whole] = joined;
}

}  // namespace

Values values_of(View view) {
  Values values(static_cast<std::size_t>(view.elements()));
  for_each_element(view, [&](std::size_t i, std::int64_t at) { values[i] = element(view, at); });
  return values;
}

void assign(View view, const Values& values) {
  if (values.size() != static_cast<std::size_t>(view.elements())) throw std::invalid_argument("another size of tensor");
  for_each_element(view, [&](std::size_t i, std::int64_t at) { set_element(view, at, values[i]); });
}

Tensors values_of(const std::vector<train::StateTensor>& tensors) {
  Tensors values;
  for (const train::StateTensor& tensor : tensors) values[tensor.name] = values_of(tensor.view);
  return values;
}

void assign(const std::vector<train::StateTensor>& tensors, const Tensors& values) {
  for (const train::StateTensor& tensor : tensors) assign(tensor.view, values.at(tensor.name));
}

std::vector<train::StateTensor> downloaded(std::vector<train::StateTensor> tensors, const train::TrainingStep& step,
                                           std::vector<HostBuffer>& buffers) {
  buffers.resize(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].view = step.download(tensors[i].view, buffers[i]);
  return tensors;
}

std::uint64_t hash_of(const std::vector<train::StateTensor>& tensors) {
  Xxh64 hash;
  for (const train::StateTensor& tensor : tensors)
    hash.update({tensor.view.data, static_cast<std::size_t>(tensor.view.bytes())});
  return hash.digest();
}

double relative_error(const Values& actual, const Values& expected) {
  if (actual.size() != expected.size()) return incomparable;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    difference += (actual[i] - expected[i]) * (actual[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  if (difference == 0) return 0;
  const double error = std::sqrt(difference / norm);
  return std::isfinite(error) ? error : incomparable;
}

double cosine(const Values& a, const Values& b) {
  double product = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += a[i] * b.at(i), aa += a[i] * a[i], bb += b[i] * b[i];
  return product / std::sqrt(aa * bb);
}

Tensors joined_biases(const Tensors& tensors) {
  Tensors result = tensors;
  for (const auto& [name, values] : tensors) {
    const std::string last = "attention.q.bias", norm = "attention.q_norm.bias";
    if (name.ends_with(last))
      join(result, name.substr(0, name.size() - last.size()),
           {"attention.q.bias", "attention.k.bias", "attention.v.bias"}, "attention.qkv.bias");
    if (name.ends_with(norm))
      join(result, name.substr(0, name.size() - norm.size()), {"attention.q_norm.bias", "attention.k_norm.bias"},
           "attention.qk_norm.bias");
  }
  return result;
}

Difference worst_difference(const Tensors& actual, const Tensors& expected) {
  const Tensors a = joined_biases(actual), b = joined_biases(expected);
  Difference worst{"(none)", -1};
  const auto consider = [&](const std::string& name, double error) {
    if (error > worst.error) worst = {name, error};
  };
  for (const auto& [name, values] : a)
    if (!b.contains(name)) consider(name, incomparable);
  for (const auto& [name, values] : b)
    consider(name, a.contains(name) ? relative_error(a.at(name), values) : incomparable);
  return worst;
}

}  // namespace monomorph::testing
