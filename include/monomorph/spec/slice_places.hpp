#pragma once
#include <array>
#include <monomorph/spec/tensor_info.hpp>

namespace monomorph {

/// Of which of the buffers that a unit is stored in. What is packed is stored as bytes that numbers are made of for
/// each use, and these lie in a buffer of their own.
enum class StoredPart { trained, frozen, packed };

/// Where the slices of a unit's Params lie when what is frozen of the unit is stored apart from what is trained.
struct SlicePlaces {
  struct Place {
    std::int64_t first = 0;  ///< element of Params with which a slice begins
    std::int64_t stored = 0;
    StoredPart part = StoredPart::trained;
  };
  std::array<Place, ParameterLayout::capacity> places{};  ///< in the order of Params
  int n = 0;

  constexpr void add(const Place& place) { places[n++] = place; }
};

}  // namespace monomorph
