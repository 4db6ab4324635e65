#include <monomorph/runtime/memory/unit_buffer.hpp>

namespace monomorph {

View UnitBuffer::stored(Slice slice) const {
  if (!slice.present()) return {};
  int i = places_->n - 1;
  while (i > 0 && places_->places[static_cast<std::size_t>(i)].first > slice.offset) --i;
  const SlicePlaces::Place& place = places_->places[static_cast<std::size_t>(i)];
  const View& buffer = place.part == StoredPart::trained  ? trained_
                       : place.part == StoredPart::frozen ? frozen_
                                                          : packed_;
  return buffer[Slice{place.stored + slice.offset - place.first, slice.shape}];
}

}  // namespace monomorph
