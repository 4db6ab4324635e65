// The files of sentence-transformers, one behind the other with a NUL byte between: modules that are accepted are
// written as files that give the same modules.
#include "train/weights/sentence_modules.hpp"

#include "harness.hpp"
#include "memory_folder.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

using namespace monomorph;

namespace {

constexpr std::array<std::string_view, 6> paths{"modules.json",
                                                "1_Pooling/config.json",
                                                "2_Dense/config.json",
                                                "2_Normalize/config.json",
                                                "sentence_bert_config.json",
                                                "config_sentence_transformers.json"};
constexpr std::int64_t width = 32;

/// A folder with these files, and with empty ones behind them.
std::optional<train::SentenceModules> read(std::string_view files) {
  static const fuzz::MemoryFolder folder;
  for (const std::string_view path : paths) {
    const std::string_view file = files.substr(0, files.find('\0'));
    files.remove_prefix(std::min(file.size() + 1, files.size()));
    std::filesystem::create_directories((std::filesystem::path(folder.path()) / path).parent_path());
    folder.put(path, file);
  }
  return train::read_sentence_modules(folder.path(), width);
}

std::string written(const train::SentenceModules& modules) {
  const auto files = train::sentence_files(modules, width);
  std::string all;
  for (const std::string_view path : paths) {
    const auto found = files.find(std::string(path));
    all += (found == files.end() ? "{}" : found->second.dump()) + '\0';
  }
  return all;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::refusing([&] {
    train::SentenceModules modules = *read(fuzz::as_text(data, size));
    fuzz::require(modules.projection.find('/') == std::string::npos,
                  "a projection lies in a folder beside modules.json");
    modules.projection = "2_Dense";
    modules.prompt.clear();  // is not written
    const std::string text = written(modules);
    fuzz::require(written(*read(text)) == text, "modules read back as written");
  });
}
