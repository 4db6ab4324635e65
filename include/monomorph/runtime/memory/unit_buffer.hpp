#pragma once
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/slice_places.hpp>

namespace monomorph {

/// The parameters of a unit, or their gradients, by the slices of its Params: one flat buffer in their layout, or two
/// where what is frozen of the unit is stored apart, or three where some of that is kept in NF4. What is frozen has no
/// gradient, so its view is not present.
class UnitBuffer {
 public:
  UnitBuffer() = default;
  UnitBuffer(View flat) : trained_(flat) {}  // NOLINT(google-explicit-constructor): a flat buffer is one
  /// @param places outlive this
  UnitBuffer(View trained, View frozen, const SlicePlaces& places)
      : trained_(trained), frozen_(frozen), places_(&places) {}
  /// @param packed the numbers that were made of what is packed
  UnitBuffer(View trained, View frozen, View packed, const SlicePlaces& places)
      : trained_(trained), frozen_(frozen), packed_(packed), places_(&places) {}

  bool present() const { return trained_.present() || frozen_.present() || packed_.present(); }
  DType dtype() const {
    return trained_.present() ? trained_.dtype : frozen_.present() ? frozen_.dtype : packed_.dtype;
  }
  View operator[](Slice slice) const { return places_ == nullptr ? trained_[slice] : stored(slice); }

 private:
  View stored(Slice slice) const;
  View trained_, frozen_, packed_;
  const SlicePlaces* places_ = nullptr;
};

}  // namespace monomorph
