#include "core/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

}  // namespace monomorph
