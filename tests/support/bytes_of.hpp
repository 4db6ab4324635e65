#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace monomorph::testing {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text.data(), text.size()});
}

}  // namespace monomorph::testing
