#include "train/weights/special_token_ids.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "train/weights/unique_json.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::train {
namespace {

using nlohmann::json;

bool is_id(const json& value) { return value.is_number_integer(); }

/// @param where the file, for messages
json checked(std::string_view key, const json& value, const std::string& where) {
  if (value.is_null() || is_id(value) || (value.is_array() && std::ranges::all_of(value, is_id))) return value;
  throw UsageError("WEIGHTS-03", fmt::format("{} has as {} neither an id nor several nor null; export the model again",
                                             in_quotes(where), key));
}

}  // namespace

json special_token_ids(const std::string& folder) {
  json ids = json::object();
  const std::string kept = path_in(folder, special_token_ids_file),
                    path = is_file(kept) ? kept : path_in(folder, "config.json");
  if (!is_file(path)) return ids;
  const json config = read_unique_object(path, "WEIGHTS-03");
  for (const std::string_view key : special_token_keys)
    if (const auto found = config.find(key); found != config.end()) ids[std::string(key)] = checked(key, *found, path);
  return ids;
}

std::string special_token_ids_text(const json& ids) { return ids.empty() ? "" : ids.dump(2) + "\n"; }

void keep_special_token_ids(const json& ids, const std::string& run_folder) {
  const std::string text = special_token_ids_text(ids);
  if (text.empty()) return;
  AtomicFile file(fmt::format("{}/{}", run_folder, special_token_ids_file));
  file.write(text);
  file.commit();
}

}  // namespace monomorph::train
