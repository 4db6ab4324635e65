#include "core/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph {

using nlohmann::json;

namespace {

template <class Json> Json parsed(std::string_view text) {
  if (find_nul(text) || find_too_deep(text, most_json_levels)) return Json(Json::value_t::discarded);
  return Json::parse(text, nullptr, false);
}

PlaceInText place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0: the first line
  return PlaceInText{1 + static_cast<std::size_t>(std::ranges::count(before, '\n')), 1 + byte - line_begin};
}

/// Reads a text without keeping anything of it, and notes why it could not go on.
class MistakeFinder : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t n_read, const std::string&, const nlohmann::detail::exception& error) override {
    reason = json_reason(error.what());
    byte = n_read - 1;
    return false;
  }

  std::string reason;
  std::size_t byte = 0;  ///< the last one that was read
};

}  // namespace

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
  return place_of(text, nul);
}

std::optional<PlaceInText> find_too_deep(std::string_view text, int most) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char character = text[i];
    if (in_string && character == '\\')
      ++i;
    else if (character == '"')
      in_string = !in_string;
    else if (in_string)
      continue;
    else if (character == ']' || character == '}')
      --depth;
    else if ((character == '[' || character == '{') && ++depth > most)
      return place_of(text, i);
  }
  return std::nullopt;
}

json parsed_json(std::string_view text) { return parsed<json>(text); }
nlohmann::ordered_json parsed_ordered_json(std::string_view text) { return parsed<nlohmann::ordered_json>(text); }

std::string json_mistake(std::string_view text) {
  std::string reason = "there is a NUL byte";
  auto place = find_nul(text);
  if (!place && (place = find_too_deep(text, most_json_levels)))
    reason = fmt::format("values lie more than {} deep in each other", most_json_levels);
  if (!place) {
    MistakeFinder finder;
    json::sax_parse(text, &finder);
    reason = finder.reason;
    place = place_of(text, std::min(finder.byte, text.size()));
  }
  return text.find('\n') == std::string_view::npos
             ? fmt::format("{} (column {})", reason, place->column)
             : fmt::format("{} (line {}, column {})", reason, place->line, place->column);
}

std::string json_reason(std::string_view what) {
  for (const std::string_view end_of_prefix : {"] ", "column "}) {
    const std::size_t found = what.find(end_of_prefix);
    if (found != std::string_view::npos) what.remove_prefix(found + end_of_prefix.size());
  }
  const std::size_t after_position = what.find_first_not_of("0123456789");
  if (after_position > 0 && what.substr(after_position).starts_with(": ")) what.remove_prefix(after_position + 2);
  constexpr std::size_t longest = 160;
  std::string line(what.substr(0, longest));
  std::ranges::replace_if(
      line, [](char character) { return static_cast<unsigned char>(character) - 0x20u > 0x5eu; }, '?');
  return line;
}

}  // namespace monomorph
