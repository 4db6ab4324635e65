#pragma once
#include "data/tokenizer/stages/text_matcher.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>
#include <monomorph/data/tokenizer/stages/precompiled_character_map.hpp>

#include <string>
#include <variant>
#include <vector>

namespace monomorph::data {

/// A text on its way through a tokenizer.
struct TextInWork {
  std::string text{};
  bool from_start = true;  ///< its first character is the first of the text that the user gave
  bool continues = false;  ///< it goes on with a text whose beginning was normalized before
};

/// The normalizers of a tokenizer, one after the other. Immutable; threads may share one.
class NormalizerChain {
 public:
  NormalizerChain() = default;
  /// @throws [TOK-02], [TOK-10] for a pattern; [TOK-4x] for a character map
  explicit NormalizerChain(const std::vector<Normalizer>& normalizers);

  bool empty() const { return steps_.empty(); }
  /// Changes valid UTF-8.
  void apply(TextInWork& work) const;

 private:
  struct Replacement {
    TextMatcher matcher;
    std::string content;
  };
  using Step = std::variant<normalizers::Unicode, normalizers::Lowercase, normalizers::StripAccents, normalizers::Nmt,
                            normalizers::ByteLevel, normalizers::Strip, Replacement, normalizers::Prepend,
                            normalizers::Bert, PrecompiledCharacterMap>;

  static Step prepare(const Normalizer& normalizer);
  static void replace(const Replacement& replacement, TextInWork& work);

  std::vector<Step> steps_;
};

}  // namespace monomorph::data
