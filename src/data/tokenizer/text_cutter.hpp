#pragma once
#include "data/tokenizer/model.hpp"
#include "data/tokenizer/stages/normalizer_chain.hpp"

#include <string_view>
#include <vector>

namespace monomorph::data {

/// Cuts long texts for tokenizers that must not be given parts of words: before a space between two words of plain
/// letters, where neither normalizers nor pre-tokenizers nor added tokens look from one side to the other.
class TextCutter {
 public:
  /// @param normalizers those of the definition; must outlive it
  TextCutter(const TokenizerDefinition& definition, const NormalizerChain& normalizers, const Model& model);

  /// The last place where `text`, valid UTF-8, can be cut whatever follows it: the ids of both parts are those of the
  /// whole if the second is normalized as TextInWork::continues says. 0 if there is none.
  std::size_t last_cut(std::string_view text) const;

 private:
  bool is_cut(std::string_view text, std::size_t space) const;
  bool normalizes_apart(std::string_view before, std::string_view after) const;

  const NormalizerChain& normalizers_;
  std::vector<std::string_view> marks_;  ///< what the normalizers must make of a space so that pieces are cut there
};

}  // namespace monomorph::data
