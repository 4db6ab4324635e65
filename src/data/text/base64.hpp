#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// The bytes that `text` encodes in base64 with padding; nothing if it is not base64, or not as an encoder writes it.
std::optional<std::string> decode_base64(std::string_view text);

/// Encodes bytes in base64 with padding.
std::string encode_base64(std::string_view bytes);

}  // namespace monomorph::data
