#include "train/run/moving_average.hpp"

#include "train/weights/averaged_name.hpp"

#include <monomorph/train/step/host_pieces.hpp>

#include <algorithm>
#include <map>
#include <string>

namespace monomorph::train {
namespace {

/// Piece by piece, which bounds the host's memory.
void exchange_views(HostAccess& tensors, const View& x, const View& y) {
  HostBuffer buffer_x, buffer_y;
  for (std::int64_t first = 0; first < x.elements();) {
    const View part_x = HostPieces::part_from(x, first), part_y = HostPieces::part_from(y, first);
    const View on_host_x = tensors.download(part_x, buffer_x), on_host_y = tensors.download(part_y, buffer_y);
    std::swap_ranges(on_host_x.data, on_host_x.data + on_host_x.bytes(), on_host_y.data);
    tensors.upload(on_host_x, part_x);
    tensors.upload(on_host_y, part_y);
    first += part_x.elements();
  }
}

}  // namespace

MovingAverage::MovingAverage(TrainingStep& step) : step_(step) {
  std::map<std::string, View> state;
  for (const StateTensor& tensor : step.optimizer_state()) state[tensor.name] = tensor.view;
  for (const StateTensor& tensor : step.parameters())
    if (const auto average = state.find(averaged_name(tensor.name)); average != state.end())
      pairs_.push_back({tensor.view, average->second});
}

void MovingAverage::exchange() {
  if (pairs_.empty()) return;
  for (const Pair& pair : pairs_) exchange_views(step_, pair.parameter, pair.average);
  step_.parameters_changed();
}

}  // namespace monomorph::train
