#include <monomorph/train/observe/observed_step.hpp>

#include <monomorph/runtime/kernels/optimizer.hpp>

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#include <cmath>

namespace monomorph::train {

double ObservedTensor::operator[](std::int64_t i) const {
  const HostPieces::Piece& piece = pieces_->around(tensor_.view, i);
  const std::int64_t at = i - piece.first;
  switch (dtype()) {
    case DType::fp64:
      return piece.view.as<double>()[at];
    case DType::bf16:
      return static_cast<float>(piece.view.as<c10::BFloat16>()[at]);
    case DType::fp16:
      return static_cast<float>(piece.view.as<c10::Half>()[at]);
    case DType::fp32:
    case DType::e4m3:
    case DType::e5m2:
      break;  // of the last two are no tensors of a state
  }
  return piece.view.as<float>()[at];
}

double ObservedTensor::norm() const {
  ExactSum squares;
  pieces_->read(tensor_.view,
                [&](const HostPieces::Piece& piece) { squares.add(cpu::sum_of_squares(cpu::Queue{}, piece.view)); });
  return std::sqrt(squares.value());
}

View ObservedTensor::whole() const {
  if (!whole_.present()) whole_ = pieces_->whole(tensor_.view, copy_);
  return whole_;
}

}  // namespace monomorph::train
