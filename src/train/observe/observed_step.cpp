#include <monomorph/train/observe/observed_step.hpp>

#include "runtime/kernels/dtypes.hpp"

#include <monomorph/runtime/kernels/optimizer.hpp>

#include <cmath>

namespace monomorph::train {

double ObservedTensor::operator[](std::int64_t i) const {
  const HostPieces::Piece& piece = pieces_->around(tensor_.view, i);
  const std::int64_t at = i - piece.first;
  double element = 0;
  in_element_type(dtype(), [&]<class T>() { element = widen(piece.view.as<T>()[at]); });
  return element;
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
