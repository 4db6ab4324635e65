#include <monomorph/train/step/host_pieces.hpp>

#include <monomorph/plan/memory.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

std::int64_t most_elements(const View& tensor) { return plan::host_staging_bytes / size_of(tensor.dtype); }

}  // namespace

View HostPieces::part_from(const View& tensor, std::int64_t first) {
  return tensor.reshaped({1, tensor.elements()})
      .columns(first, std::min(most_elements(tensor), tensor.elements() - first));
}

void HostPieces::show(const View& tensor, std::int64_t element) {
  const std::int64_t first = element / most_elements(tensor) * most_elements(tensor);
  shown_of_ = nullptr;  // until the copy is there
  shown_ = {tensors_.download(part_from(tensor, first), buffer_), first};
  shown_of_ = tensor.data;
}

View HostPieces::place_for(const View& part) {
  shown_of_ = nullptr;  // the place may be that of what was shown
  return tensors_.place_for_upload(part, buffer_);
}

}  // namespace monomorph::train
