#include "train/weights/unique_json.hpp"

#include "core/json_text.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <vector>

namespace monomorph::train {
namespace {

using nlohmann::json;

json read_unique(const std::string& path, ErrorId id, json::value_t type) {
  const std::string_view kind = type == json::value_t::array ? "JSON array" : "JSON object";
  const auto refuse = [&](const std::string& reason) {
    throw UsageError(id, fmt::format("{} {}; copy or export the folder again", in_quotes(path), reason));
  };
  constexpr int deepest = 256;
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string twice;
  bool is_too_deep = false;
  const auto follow = [&](int depth, json::parse_event_t event, const json& parsed) {
    is_too_deep |= depth > deepest;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      twice = parsed.get<std::string>();
    return true;
  };
  const std::string text = read_text_file(path);
  json value = find_nul(text) ? json(json::value_t::discarded) : json::parse(text, follow, false);
  if (value.is_discarded()) refuse(fmt::format("is no {}: {}", kind, json_mistake(text)));
  if (value.type() != type) refuse(fmt::format("is no {}", kind));
  if (is_too_deep) refuse(fmt::format("has values that lie more than {} deep", deepest));
  if (!twice.empty()) refuse("has the key " + in_quotes(twice) + " twice");
  return value;
}

}  // namespace

json read_unique_object(const std::string& path, ErrorId id) { return read_unique(path, id, json::value_t::object); }
json read_unique_array(const std::string& path, ErrorId id) { return read_unique(path, id, json::value_t::array); }

}  // namespace monomorph::train
