#include "train/run/weights/special_tokens.hpp"

#include "core/folder_files.hpp"
#include "train/inference/named_ids.hpp"
#include "train/weights/special_token_ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view generation = "generation_config.json", tokenization = "tokenizer_config.json",
                           token_map = "special_tokens_map.json";

struct Naming {
  std::string_view beginning;                    ///< of the keys
  std::array<std::string_view, 2> usual_tokens;  ///< where no file says which
};
Naming naming_of(SpecialTokenUse use) {
  switch (use) {
    case SpecialTokenUse::bos:
      return {"bos", {"<|endoftext|>", "<s>"}};
    case SpecialTokenUse::eos:
      return {"eos", {"<|endoftext|>", "</s>"}};
    case SpecialTokenUse::pad:
      return {"pad", {"<pad>", "[PAD]"}};
    case SpecialTokenUse::unk:
      return {"unk", {}};
  }
  return {};
}
std::string text_key(SpecialTokenUse use) { return fmt::format("{}_token", naming_of(use).beginning); }
std::string id_key(SpecialTokenUse use) { return fmt::format("{}_token_id", naming_of(use).beginning); }

}  // namespace

SpecialTokens::SpecialTokens(std::string run_folder, const data::Tokenizer* tokenizer)
    : folder_(std::move(run_folder)), tokenizer_(tokenizer), kept_(special_token_ids(folder_)) {}

std::vector<std::int32_t> SpecialTokens::in_file(std::string_view file, SpecialTokenUse use) const {
  if (tokenizer_ == nullptr) return {};
  const bool is_end = use == SpecialTokenUse::eos;
  return named_ids(*tokenizer_, path_in(folder_, file), file == generation ? id_key(use) : text_key(use),
                   is_end ? UnknownNames::refused : UnknownNames::passed_over);
}

std::vector<std::int32_t> SpecialTokens::usual(SpecialTokenUse use) const {
  if (tokenizer_ == nullptr) return {};
  const auto before = tokenizer_->ids_before_text(), after = tokenizer_->ids_after_text();
  const bool is_of_encoder = !before.empty() && !after.empty();  // [CLS] and [SEP], which begin and end no generation
  if (use == SpecialTokenUse::bos && before.size() == 1 && !is_of_encoder) return {before.front()};
  for (const std::string_view token : naming_of(use).usual_tokens)
    if (const auto id = tokenizer_->find(token)) return {*id};
  return {};
}

json SpecialTokens::of_config() const {
  json ids = kept_;
  for (const auto use : {SpecialTokenUse::bos, SpecialTokenUse::eos, SpecialTokenUse::pad}) {
    const std::string key = id_key(use);
    if (ids.contains(key)) continue;
    for (const auto& known :
         {in_file(generation, use), in_file(tokenization, use), in_file(token_map, use), usual(use)}) {
      if (known.empty()) continue;
      ids[key] = known.size() == 1 ? json(known.front()) : json(known);
      break;
    }
    if (!ids.contains(key) && use != SpecialTokenUse::pad) ids[key] = nullptr;
  }
  return ids;
}

std::vector<std::int32_t> SpecialTokens::all(SpecialTokenUse use) const {
  std::vector<std::int32_t> ids;
  const auto add = [&](std::int32_t id) {
    if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
  };
  for (const std::string_view file : {tokenization, token_map, generation})
    std::ranges::for_each(in_file(file, use), add);
  const json kept = kept_.value(id_key(use), json());
  for (const json& id : kept.is_array() ? kept : json::array({kept}))
    if (id.is_number_integer() && tokenizer_ != nullptr && id >= 0 && id < tokenizer_->vocab_size() &&
        tokenizer_->has_token(id.get<std::int32_t>()))
      add(id.get<std::int32_t>());
  return ids.empty() ? usual(use) : ids;
}

}  // namespace monomorph::train
