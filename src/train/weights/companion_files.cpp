#include "train/weights/companion_files.hpp"

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

/// tokenizer_names first.
constexpr std::string_view companions[] = {
    tokenizer_names[0],    tokenizer_names[1],   "tokenizer_config.json",   "vocab.json",
    "vocab.txt",           "merges.txt",         "special_tokens_map.json", "added_tokens.json",
    "chat_template.jinja", "chat_template.json", "generation_config.json"};

/// Of a model whose config.json no import can read there are none: whoever only has its tokeniser may have it so.
std::string ids_beside(const std::string& folder) {
  if (is_file(fmt::format("{}/{}", folder, special_token_ids_file)))
    return special_token_ids_text(special_token_ids(folder));
  try {
    return special_token_ids_text(special_token_ids(folder));
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void copy_companion_files(const std::string& from, const std::string& to) {
  for (const std::string_view name : companions) {
    const std::string path = fmt::format("{}/{}", from, name);
    if (!is_file(path)) continue;
    const MappedFile file(path);
    AtomicFile copy(fmt::format("{}/{}", to, name));
    copy.write(file.bytes());
    copy.commit();
  }
}

std::string tokenizer_in(const std::string& folder) {
  for (const std::string_view name : tokenizer_names)
    if (std::string path = fmt::format("{}/{}", folder, name); is_there(path)) return path;
  return "";
}

std::vector<std::pair<std::string, std::string>> companions_of_tokenizer(const std::string& path) {
  const std::filesystem::path tokenizer(path);
  std::vector<std::pair<std::string, std::string>> texts;
  const auto* const own = std::ranges::find(tokenizer_names, tokenizer.filename().string());
  if (own == std::end(tokenizer_names)) return texts;
  for (const std::string_view name : std::span(companions).subspan(own - std::begin(tokenizer_names) + 1))
    if (const std::string beside = (tokenizer.parent_path() / name).string(); is_file(beside)) {
      const MappedFile file(beside);
      texts.emplace_back(name, std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()));
    }
  const std::string folder = tokenizer.parent_path().empty() ? "." : tokenizer.parent_path().string();
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
