#pragma once
#include "data/formats/token_formats.hpp"

#include <array>
#include <cstdint>

namespace monomorph::data {

/// The codes of whole numbers; 6 and 7 are floating-point numbers, which are no tokens.
struct MegatronType {
  std::uint8_t code;
  TokenType type;
};
inline constexpr std::array<MegatronType, 6> megatron_types{
    {{1, {1, false}}, {2, {1, true}}, {3, {2, true}}, {4, {4, true}}, {5, {8, true}}, {8, {2, false}}}};

}  // namespace monomorph::data
