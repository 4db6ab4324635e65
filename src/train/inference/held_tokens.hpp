#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// The tokens of a text whose text a StreamDecoder holds back. Of a run of byte tokens it shows nothing before the
/// token behind it: if the run is no UTF-8, each of its bytes is shown as U+FFFD, and only its end tells. What such a
/// run would be if it ended here is told here.
class HeldTokens {
 public:
  /// @param tokenizer must outlive it
  explicit HeldTokens(const data::Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  /// @param shown by the decoder with this token
  void push(std::int32_t id, const std::string& shown);
  /// What the decoder holds by now is no part of the text that is asked for.
  void leave_out_all() { n_left_out_ = ids_.size(); }
  /// The text that is held, up to the last character that is whole; "" if there is none, or if it is no UTF-8.
  std::string whole_characters() const;
  /// The text that is held, if it consists of whole characters; "" otherwise, and of a run that is longer than any
  /// text: as all of it is read for each of its tokens, one without an end would take ever longer.
  std::string text() const;

 private:
  static constexpr std::size_t longest_run = 256;

  std::size_t count() const { return ids_.size() - n_left_out_; }
  /// Of the first n tokens, without those that are left out; "" if they are no UTF-8.
  std::string text_of(std::size_t n) const;

  const data::Tokenizer* tokenizer_;
  /// Behind the token that was shown last, as decoders treat the beginning of a text in a way of its own.
  std::vector<std::int32_t> ids_;
  std::size_t n_left_out_ = 0;
};

}  // namespace monomorph::train
