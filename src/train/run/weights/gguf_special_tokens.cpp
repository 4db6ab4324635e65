#include "train/run/weights/gguf_special_tokens.hpp"

#include "train/run/weights/gguf_vocabulary.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/model_template.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace monomorph::train {
namespace {

using Ids = std::vector<std::int32_t>;

/// What llama.cpp knows by its text for the end of a turn, and for that of a text.
constexpr std::string_view ends_of_turns[] = {"<|im_end|>", "<|eot_id|>", "<|end|>", "<end_of_turn>"};
constexpr std::string_view ends_of_texts[] = {"<|endoftext|>", "<|end_of_text|>", "<|eom_id|>", "</s>"};

void add_id(std::string_view name, std::optional<std::int32_t> id, runtime::GgufMetadata& metadata) {
  if (id) metadata.add(fmt::format("tokenizer.ggml.{}_token_id", name), static_cast<std::uint32_t>(*id));
}

std::optional<std::int32_t> taken_front(Ids& ids) {
  if (ids.empty()) return std::nullopt;
  const std::int32_t id = ids.front();
  ids.erase(ids.begin());
  return id;
}

/// What ends texts: first what the tokeniser puts behind them.   @throws UsageError [GGUF-02]
Ids ends_of(const data::Tokenizer& tokenizer, const SpecialTokens& special) {
  Ids ends(tokenizer.ids_after_text().begin(), tokenizer.ids_after_text().end());
  for (const std::int32_t id : special.all(SpecialTokenUse::eos))
    if (std::ranges::find(ends, id) == ends.end()) ends.push_back(id);
  if (ends.empty())
    refuse_gguf_tokenizer(
        "no token that ends a text: it would take that of id 11 or 2 for one; name the eos_token in a "
        "tokenizer_config.json in the run's folder");
  return ends;
}

/// There are two more places for such tokens than that of the first: the end of a turn, and that of a message.
void add_ends(const data::Tokenizer& tokenizer, const SpecialTokens& special, runtime::GgufMetadata& metadata,
              std::vector<std::string>& notes) {
  const Ids ends = ends_of(tokenizer, special);
  const auto is_one_of = [&](const auto& texts) {
    return [&](std::int32_t id) { return std::ranges::count(texts, tokenizer.token_of(id)) > 0; };
  };
  add_id("eos", ends.front(), metadata);
  Ids others;
  std::ranges::copy_if(ends.begin() + 1, ends.end(), std::back_inserter(others),
                       [&](std::int32_t id) { return !is_one_of(ends_of_turns)(id) && !is_one_of(ends_of_texts)(id); });
  const auto turn = std::ranges::find_if(ends, is_one_of(ends_of_turns));
  add_id("eot", turn == ends.end() ? taken_front(others) : std::optional(*turn), metadata);
  add_id("eom", taken_front(others), metadata);
  for (const std::int32_t id : others)
    notes.push_back(fmt::format("llama.cpp does not stop at {}, as it has no place for so many ends",
                                in_quotes(tokenizer.token_of(id))));
}

std::optional<std::int32_t> first_of(const Ids& ids) { return ids.empty() ? std::nullopt : std::optional(ids.front()); }

}  // namespace

void add_special_tokens(const data::Tokenizer& tokenizer, const SpecialTokens& special, runtime::GgufMetadata& metadata,
                        std::vector<std::string>& notes) {
  const auto before = tokenizer.ids_before_text(), after = tokenizer.ids_after_text();
  if (before.size() > 1 || after.size() > 1) refuse_gguf_tokenizer("several tokens before or behind each text");
  const Ids begins = special.all(SpecialTokenUse::bos);
  add_id("bos", before.empty() ? first_of(begins) : std::optional(before.front()), metadata);
  metadata.add_flag("tokenizer.ggml.add_bos_token", !before.empty());
  add_ends(tokenizer, special, metadata, notes);
  metadata.add_flag("tokenizer.ggml.add_eos_token", !after.empty());
  add_id("padding", first_of(special.all(SpecialTokenUse::pad)), metadata);
  add_id("unknown", first_of(special.all(SpecialTokenUse::unk)), metadata);
}

void add_chat_templates(const std::string& run_folder, runtime::GgufMetadata& metadata) {
  const std::string key = "tokenizer.chat_template";
  std::map<std::string, std::string> sources = data::chat_template_sources(run_folder);
  const auto usual = sources.extract("default");
  std::vector<std::string> names;
  for (const auto& [name, source] : sources) {
    std::string plain = name;
    std::ranges::replace_if(
        plain, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    if (std::ranges::find(names, plain) != names.end()) continue;  // no key may come twice
    metadata.add(fmt::format("{}.{}", key, plain), std::string_view(source));
    names.push_back(std::move(plain));
  }
  if (!names.empty()) metadata.add("tokenizer.chat_templates", std::span<const std::string>(names));
  if (!usual.empty()) metadata.add(key, std::string_view(usual.mapped()));
}

}  // namespace monomorph::train
