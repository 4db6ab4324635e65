#include <monomorph/train/observe/observed_step.hpp>

#include <monomorph/runtime/kernels/optimizer.hpp>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <cmath>

namespace monomorph::train {

double ObservedTensor::operator[](std::int64_t i) const {
  const auto at = static_cast<std::size_t>(i);
  switch (dtype()) {
    case DType::fp64:
      return as<double>()[at];
    case DType::bf16:
      return static_cast<float>(as<c10::BFloat16>()[at]);
    case DType::fp16:
      return static_cast<float>(as<c10::Half>()[at]);
    case DType::fp32:
      break;
  }
  return as<float>()[at];
}

double ObservedTensor::norm() const { return std::sqrt(cpu::sum_of_squares(cpu::Queue{}, tensor_.view).value()); }

}  // namespace monomorph::train
