#include "train/run/saving/staged_state.hpp"

#include "runtime/memory/copy_past_caches.hpp"
#include "train/run/saving/state_parts.hpp"

#include <monomorph/train/step/host_pieces.hpp>

namespace monomorph::train {
namespace {

std::int64_t bytes_of(const std::vector<StateTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const StateTensor& tensor : tensors) bytes += align_up(tensor.view.bytes(), 64);
  return bytes;
}

}  // namespace

StagedState::StagedState(TrainingStep& step, bool writes, runtime::ComputedBy steps)
    : step_(step),
      tensors_(writes ? all_state(step, true) : std::vector<StateTensor>()),
      memory_(bytes_of(tensors_)),
      populating_(memory_.data(), memory_.bytes(), steps) {
  for (const StateTensor& tensor : tensors_) {
    places_.push_back(memory_.take(tensor.view.elements(), tensor.view.dtype).data);
    parts_.push_back(part_of(tensor));
    parts_.back().tensor.data = places_.back();
  }
}

void StagedState::copy() {
  populating_.stop();  // what it has not come to is made sooner by all threads that copy
  HostPieces pieces(step_);
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    pieces.read(tensors_[i].view, [&](const HostPieces::Piece& piece) {
      runtime::copy_past_caches(piece.view.data, places_[i] + piece.first * size_of(piece.view.dtype),
                                piece.view.bytes());
    });
}

}  // namespace monomorph::train
