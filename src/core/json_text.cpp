#include "core/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph {

using nlohmann::json;

std::string json_string(std::string_view text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_number(double value) {
  if (std::isnan(value)) return "\"NaN\"";
  if (std::isinf(value)) return value > 0.0 ? "\"Infinity\"" : "\"-Infinity\"";
  return fmt::format("{}", value);
}

bool is_utf8(std::string_view text) {
  try {
    static_cast<void>(json(text).dump());
    return true;
  } catch (const json::type_error&) {  // dump is strict unless told otherwise
    return false;
  }
}

std::optional<PlaceInText> find_nul(std::string_view text) {
  const std::size_t nul = text.find('\0');
  if (nul == std::string_view::npos) return std::nullopt;
  const std::string_view before = text.substr(0, nul);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return PlaceInText{1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), 1 + nul - line_begin};
}

json parsed_json(std::string_view text) {
  return find_nul(text) ? json(json::value_t::discarded) : json::parse(text, nullptr, false);
}

}  // namespace monomorph
