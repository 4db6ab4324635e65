#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// The bytes that `text` writes in base64 with padding; nothing if it is none, or one that no encoder writes.
std::optional<std::string> decode_base64(std::string_view text);

/// The reverse.
std::string encode_base64(std::string_view bytes);

}  // namespace monomorph::data
