#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What tokens of a GGUF file are, with their numbers there.
enum class GgufTokenType : std::int32_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

/// The tokens of a GGUF file, by id.
struct GgufVocabulary {
  std::vector<std::string> tokens;
  std::vector<std::int32_t> types;

  void set(std::int32_t id, GgufTokenType type) {
    types[static_cast<std::size_t>(id)] = static_cast<std::int32_t>(type);
  }
  bool is(std::int32_t id, GgufTokenType type) const {
    return types[static_cast<std::size_t>(id)] == static_cast<std::int32_t>(type);
  }
};

/// All tokens as the tokeniser writes them, those that are found in the text as they stand. Ids of the model that have
/// no token get one that no text has.
GgufVocabulary gguf_vocabulary(const data::Tokenizer& tokenizer, std::int64_t vocab_size);

/// @throws UsageError [GGUF-02]
[[noreturn]] void refuse_gguf_tokenizer(std::string_view feature);

}  // namespace monomorph::train
