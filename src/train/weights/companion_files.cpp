#include "train/weights/companion_files.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "core/json_text.hpp"
#include "train/weights/special_token_ids.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

namespace monomorph::train {
namespace {

/// tokenizer_names first. Beside them chat templates lie in a folder of their own.
constexpr std::string_view companions[] = {
    tokenizer_names[0],    tokenizer_names[1],   "tokenizer_config.json",   "vocab.json",
    "vocab.txt",           "merges.txt",         "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja", "chat_template.json", "generation_config.json"};

/// The names of those that a folder has, of all companions or of those behind the first ones.
std::vector<std::string> companions_in(const std::string& folder, std::ptrdiff_t first = 0) {
  std::vector<std::string> names;
  for (const std::string_view name : std::span(companions).subspan(static_cast<std::size_t>(first)))
    if (is_file(path_in(folder, name))) names.emplace_back(name);
  std::ranges::move(files_in(folder, "additional_chat_templates", ".jinja"), std::back_inserter(names));
  return names;
}

/// Of a model whose config.json no import can read there are none: whoever only has its tokeniser may have it so.
std::string ids_beside(const std::string& folder) {
  const bool are_kept = is_file(path_in(folder, special_token_ids_file));
  path_in(folder, "config.json");  // unlike what is broken, a link that leads out of the folder is never passed over
  try {
    return special_token_ids_text(special_token_ids(folder));
  } catch (const Error&) {
    if (are_kept) throw;
    return "";
  }
}

}  // namespace

void copy_companion_files(const std::string& from, const std::string& to) {
  for (const std::string& name : companions_in(from)) {
    const MappedFile file(path_in(from, name));
    const std::filesystem::path path = std::filesystem::path(to) / name;
    create_folder(path.parent_path().string());
    AtomicFile copy(path.string());
    copy.write(file.bytes());
    copy.commit();
  }
}

void check_companion_files(const std::string& from) { companions_in(from); }

std::string tokenizer_in(const std::string& folder) {
  for (const std::string_view name : tokenizer_names)
    if (std::string path = path_in(folder, name); is_there(path)) return path;
  return "";
}

bool has_companions(const std::string& tokenizer) {
  return std::ranges::count(tokenizer_names, std::filesystem::path(tokenizer).filename().string()) > 0;
}

std::vector<std::pair<std::string, std::string>> companions_of_tokenizer(const std::string& path) {
  const std::filesystem::path tokenizer(path);
  std::vector<std::pair<std::string, std::string>> texts;
  const auto* const own = std::ranges::find(tokenizer_names, tokenizer.filename().string());
  if (own == std::end(tokenizer_names)) return texts;
  const std::string folder = tokenizer.parent_path().empty() ? "." : tokenizer.parent_path().string();
  for (std::string& name : companions_in(folder, own - std::begin(tokenizer_names) + 1)) {
    const MappedFile file(path_in(folder, name));
    const std::string_view bytes(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    texts.emplace_back(std::move(name), bytes);
  }
  if (std::string ids = ids_beside(folder); !ids.empty()) texts.emplace_back(special_token_ids_file, std::move(ids));
  return texts;
}

void name_tokenizer_class(const std::string& folder, const std::string& padding) {
  const std::string config = folder + "/tokenizer_config.json";
  if (!is_file(folder + "/tokenizer.json") || is_file(config)) return;
  AtomicFile file(config);
  const std::string of_padding = padding.empty() ? "" : fmt::format("  \"pad_token\": {},\n", json_string(padding));
  file.write(fmt::format("{{\n{}  \"tokenizer_class\": \"PreTrainedTokenizerFast\"\n}}\n", of_padding));
  file.commit();
}

}  // namespace monomorph::train
