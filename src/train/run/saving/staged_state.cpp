#include "train/run/saving/staged_state.hpp"

#include "train/run/saving/state_parts.hpp"

#include <monomorph/runtime/machine/parallel.hpp>
#include <monomorph/train/step/host_pieces.hpp>

#include <algorithm>
#include <cstring>

namespace monomorph::train {
namespace {

std::int64_t bytes_of(const std::vector<StateTensor>& tensors) {
  std::int64_t bytes = 0;
  for (const StateTensor& tensor : tensors) bytes += align_up(tensor.view.bytes(), 64);
  return bytes;
}

/// On all threads, as one alone does not reach what the memory gives.
void copy_bytes(const std::byte* from, std::byte* to, std::int64_t n) {
  constexpr std::int64_t at_a_time = std::int64_t{1} << 20;
  parallel_for((n + at_a_time - 1) / at_a_time, [&](std::int64_t i) {
    const std::int64_t first = i * at_a_time;
    std::memcpy(to + first, from + first, static_cast<std::size_t>(std::min(at_a_time, n - first)));
  });
}

}  // namespace

StagedState::StagedState(TrainingStep& step, bool writes)
    : step_(step), tensors_(writes ? all_state(step, true) : std::vector<StateTensor>()), memory_(bytes_of(tensors_)) {
  for (const StateTensor& tensor : tensors_) {
    places_.push_back(memory_.take(tensor.view.elements(), tensor.view.dtype).data);
    parts_.push_back(part_of(tensor));
    parts_.back().tensor.data = places_.back();
  }
}

void StagedState::copy() {
  HostPieces pieces(step_);
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    pieces.read(tensors_[i].view, [&](const HostPieces::Piece& piece) {
      copy_bytes(piece.view.data, places_[i] + piece.first * size_of(piece.view.dtype), piece.view.bytes());
    });
}

}  // namespace monomorph::train
