// What lies beside a model and says how its texts end and its chats are written, one file behind the other with a NUL
// byte between: tokens that are accepted are the tokeniser's, and settings of how tokens are drawn are within their
// bounds.
#include "train/inference/sampling_choices.hpp"
#include "train/inference/stop_ids.hpp"

#include <monomorph/data/chat/model_template.hpp>

#include <algorithm>
#include <array>
#include <filesystem>

#include "byte_tokenizer.hpp"
#include "memory_folder.hpp"

using namespace monomorph;

namespace {

constexpr std::array<std::string_view, 5> names{"generation_config.json", "tokenizer_config.json", "chat_template.json",
                                                "chat_template.jinja", "additional_chat_templates/tool_use.jinja"};

void check(const std::string& folder) {
  const data::Tokenizer& tokenizer = fuzz::byte_tokenizer();
  fuzz::refusing([&] {
    for (const std::int32_t id : train::stop_ids(tokenizer, folder))
      fuzz::require(id >= 0 && id < tokenizer.vocab_size() && tokenizer.has_token(id), "a stop id is a token's");
  });
  fuzz::refusing([&] {
    train::SamplingSettings settings;
    train::sampling_of_model(folder).apply_to(settings);
    fuzz::require(settings.temperature >= 0 && settings.top_p > 0 && settings.top_p <= 1 && settings.min_p >= 0 &&
                      settings.min_p <= 1 && settings.repetition_penalty > 0 && settings.top_k.value_or(1) >= 1,
                  "settings are within their bounds");
  });
  fuzz::refusing([&] {
    const auto chats = data::ModelTemplate::of_folder(folder);
    if (!chats) return;
    fuzz::require(chats->fingerprint() == data::ModelTemplate::of_folder(folder)->fingerprint(),
                  "templates that are read again are the same");
    chats->chosen(true);
    chats->token("eos_token");
  });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::MemoryFolder folder;
  std::filesystem::create_directory(folder.path() + "/additional_chat_templates");
  std::string_view files = fuzz::as_text(data, size);
  for (const std::string_view name : names) {
    const std::string_view file = files.substr(0, files.find('\0'));
    files.remove_prefix(std::min(file.size() + 1, files.size()));
    if (file.empty())  // there is no such file
      std::filesystem::remove(std::filesystem::path(folder.path()) / name);
    else
      folder.put(name, file);
  }
  check(folder.path());
  return 0;
}
