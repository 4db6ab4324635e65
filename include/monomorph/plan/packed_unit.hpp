#pragma once
#include <array>
#include <monomorph/spec/nf4_places.hpp>
#include <monomorph/spec/tensor_info.hpp>

namespace monomorph::plan {

/// The matrices of a unit that are kept in NF4: where their bytes lie, one matrix after the other, and where they lie
/// as numbers while the unit is used.
struct PackedUnit {
  ParameterLayout unpacked;
  std::array<Nf4Places, ParameterLayout::capacity> places{};  ///< of each tensor of `unpacked`
  Layout bytes;

  constexpr PackedUnit() = default;
  constexpr explicit PackedUnit(const ParameterLayout& layout) : unpacked(layout) {
    for (int i = 0; i < unpacked.size(); ++i) places[i] = Nf4Places(bytes, unpacked[i].slice.shape.elements());
  }
  /// As many elements as hold the bytes.
  constexpr ParameterLayout stored(std::int64_t element_bytes) const {
    ParameterLayout layout;
    layout.elements = layout.unpadded = bytes.elements / element_bytes;
    return layout;
  }
};

}  // namespace monomorph::plan
