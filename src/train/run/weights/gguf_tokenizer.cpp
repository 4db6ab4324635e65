#include "train/run/weights/gguf_tokenizer.hpp"

#include "train/run/weights/gguf_byte_level.hpp"
#include "train/run/weights/gguf_sentence_piece.hpp"
#include "train/run/weights/gguf_special_tokens.hpp"
#include "train/run/weights/gguf_vocabulary.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monomorph::train {
namespace {

/// llama.cpp finds added tokens in the text as it was given, and nothing beside them matters.
void note_added_tokens(const data::Tokenizer& tokenizer, std::vector<std::string>& notes) {
  std::vector<std::string> differing;
  for (const data::AddedToken& added : tokenizer.definition().added_tokens)
    if (added.lstrip || added.rstrip || added.single_word || tokenizer.token_of(added.id) != added.content)
      differing.push_back(in_quotes(added.content));
  constexpr std::size_t most = 5;
  if (differing.empty()) return;
  const std::size_t n_more = differing.size() > most ? differing.size() - most : 0;
  differing.resize(differing.size() - n_more);
  notes.push_back(
      fmt::format("llama.cpp looks for added tokens in the text as it stands, and not at the spaces, words "
                  "and normalizers that these mind: {}{}",
                  fmt::join(differing, ", "), n_more > 0 ? fmt::format(" and {} more", n_more) : ""));
}

}  // namespace

std::vector<std::string> add_tokenizer(const data::Tokenizer& tokenizer, const SpecialTokens& special,
                                       std::int64_t vocab_size, runtime::GgufMetadata& metadata) {
  const auto* const bpe = std::get_if<data::tokenizer_models::Bpe>(&tokenizer.definition().model);
  if (bpe == nullptr) refuse_gguf_tokenizer("a model other than BPE");
  std::vector<std::string> notes;
  if (bpe->byte_fallback)
    add_sentence_piece_bpe(tokenizer, *bpe, vocab_size, metadata, notes);
  else
    add_byte_level_bpe(tokenizer, *bpe, vocab_size, metadata, notes);
  add_special_tokens(tokenizer, special, metadata, notes);
  note_added_tokens(tokenizer, notes);
  return notes;
}

}  // namespace monomorph::train
