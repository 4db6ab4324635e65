#pragma once
#include <monomorph/data/tokenizer/sentence_piece/sentence_piece_model.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::data {

/// Decodes ids of a SentencePiece model one after the other into text that ends between characters.
class SentencePieceStream {
 public:
  /// @param model must outlive it
  explicit SentencePieceStream(const SentencePieceModel& model);

  /// What can be shown after one more token.  @throws [TOK-04]
  std::string push(std::int32_t id);
  std::string finish();

 private:
  bool is_whole_text() const;

  const SentencePieceModel& model_;
  // The library treats the beginning of a text in a way of its own. So all tokens are kept until something is shown;
  // what comes later is decoded behind a token that shows something. Where no piece does so on its own, as in a model
  // of bytes and spaces, all tokens are kept for good.
  std::vector<std::int32_t> held_;
  std::int32_t anchor_ = -1;  ///< -1: there is none
  std::string anchor_text_;
  std::size_t n_shown_ = 0;  ///< bytes, where there is none
  bool at_start_ = true;
};

/// The bytes that a piece stands for within a text.
std::string bytes_of_piece(const SentencePieceModel& model, std::int32_t id);

}  // namespace monomorph::data
