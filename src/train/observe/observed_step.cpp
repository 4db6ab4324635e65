#include <monomorph/train/observe/observed_step.hpp>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <cmath>

namespace monomorph::train {
namespace {

/// What `act` makes of the elements, whose type is known to it.
auto with_elements(const ObservedTensor& tensor, auto act) {
  switch (tensor.dtype()) {
    case DType::fp64:
      return act(tensor.as<double>());
    case DType::bf16:
      return act(tensor.as<c10::BFloat16>());
    case DType::fp16:
      return act(tensor.as<c10::Half>());
    case DType::fp32:
      break;
  }
  return act(tensor.as<float>());
}

template <class T> double widened(T value) {
  if constexpr (sizeof(T) == 2)
    return static_cast<float>(value);
  else
    return value;
}

}  // namespace

double ObservedTensor::operator[](std::int64_t i) const {
  return with_elements(*this, [&](auto elements) { return widened(elements[static_cast<std::size_t>(i)]); });
}

double ObservedTensor::norm() const {
  return with_elements(*this, [](auto elements) {
    double squares = 0;
    for (const auto element : elements) squares += widened(element) * widened(element);
    return std::sqrt(squares);
  });
}

}  // namespace monomorph::train
