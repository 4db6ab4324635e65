#include "train/run/weights/gguf_vocabulary.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

/// llama.cpp takes no token twice.
std::string token_of_no_text(const data::Tokenizer& tokenizer, std::int64_t id) {
  std::string token = fmt::format("[PAD{}]", id);
  while (tokenizer.find(token)) token += '_';
  return token;
}

}  // namespace

GgufVocabulary gguf_vocabulary(const data::Tokenizer& tokenizer, std::int64_t vocab_size) {
  GgufVocabulary vocabulary;
  for (std::int32_t id = 0; id < vocab_size; ++id) {
    const bool is_there = tokenizer.has_token(id);
    vocabulary.tokens.push_back(is_there ? tokenizer.token_of(id) : token_of_no_text(tokenizer, id));
    vocabulary.types.push_back(static_cast<std::int32_t>(is_there ? GgufTokenType::normal : GgufTokenType::unused));
  }
  for (const data::AddedToken& added : tokenizer.definition().added_tokens) {
    vocabulary.tokens[static_cast<std::size_t>(added.id)] = added.content;
    vocabulary.set(added.id, added.special ? GgufTokenType::control : GgufTokenType::user_defined);
  }
  return vocabulary;
}

void refuse_gguf_tokenizer(std::string_view feature) {
  throw UsageError("GGUF-02",
                   fmt::format("llama.cpp has no tokenizer with {}; export to a folder with --output", feature));
}

}  // namespace monomorph::train
