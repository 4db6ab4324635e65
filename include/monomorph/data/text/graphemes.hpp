#pragma once
#include <cstddef>
#include <string_view>

namespace monomorph::data {

/// The bytes of the first extended grapheme cluster (UAX #29, Unicode 17) of `text`, valid UTF-8 and not empty.
std::size_t first_grapheme(std::string_view text);

}  // namespace monomorph::data
