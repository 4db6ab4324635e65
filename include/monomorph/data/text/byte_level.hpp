#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// The alphabet in which byte-level tokenisers write bytes: a printable character for each, in UTF-8. Bytes that are
/// printable in Latin-1 stand for themselves, the others for the characters from U+0100 on, in order.
const std::array<std::string, 256>& byte_level_alphabet();

/// The bytes in the alphabet above.
std::string to_byte_level(std::string_view bytes);

/// The bytes that `text` stands for; nothing if it has a character outside the alphabet.
std::optional<std::string> from_byte_level(std::string_view text);

}  // namespace monomorph::data
