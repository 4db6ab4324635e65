#include "train/weights/travelling_files.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <string_view>

namespace monomorph::train {
namespace {

constexpr std::string_view travelling[] = {
    "tokenizer.json",     "tokenizer.model",         "tokenizer_config.json", "vocab.json",
    "merges.txt",         "special_tokens_map.json", "added_tokens.json",     "chat_template.jinja",
    "chat_template.json", "generation_config.json"};

}  // namespace

void copy_travelling_files(const std::string& from, const std::string& to) {
  for (const std::string_view name : travelling) {
    const std::string path = fmt::format("{}/{}", from, name);
    std::error_code ignored;  // what can't be looked at isn't there
    if (!std::filesystem::is_regular_file(path, ignored)) continue;
    const MappedFile file(path);
    AtomicFile copy(fmt::format("{}/{}", to, name));
    copy.write(file.bytes());
    copy.commit();
  }
}

}  // namespace monomorph::train
