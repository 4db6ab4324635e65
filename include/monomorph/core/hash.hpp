#pragma once
#include <cstdint>
#include <string_view>

namespace monomorph {

constexpr std::uint64_t fnv1a_64(char character, std::uint64_t state) {
  return (state ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
}
/// The FNV-1a hash of `text`; a constant where `text` is one. Chain texts by passing the hash so far as `state`.
constexpr std::uint64_t fnv1a_64(std::string_view text, std::uint64_t state = 0xcbf29ce484222325u) {
  for (const char character : text) state = fnv1a_64(character, state);
  return state;
}

}  // namespace monomorph
