#include "train/inference/held_tokens.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <span>

namespace monomorph::train {

void HeldTokens::push(std::int32_t id, const std::string& shown) {
  if (!shown.empty()) {
    ids_.clear();
    n_left_out_ = 1;
  }
  ids_.push_back(id);
}

std::string HeldTokens::whole_characters() const {
  constexpr std::size_t longest_character = 4;  // of UTF-8, of which bytes may be missing
  for (std::size_t n_unfinished = 0; n_unfinished < longest_character && n_unfinished < count(); ++n_unfinished)
    if (std::string text = text_of(ids_.size() - n_unfinished); !text.empty()) return text;
  return "";
}

std::string HeldTokens::text() const { return count() == 0 || ids_.size() > longest_run ? "" : text_of(ids_.size()); }

std::string HeldTokens::text_of(std::size_t n) const {
  const std::string before = tokenizer_->decode(std::span(ids_).first(n_left_out_), true),
                    all = tokenizer_->decode(std::span(ids_).first(n), true);
  const bool is_broken = all.find(data::replacement_character) != std::string::npos;
  return is_broken || !all.starts_with(before) ? "" : all.substr(before.size());
}

}  // namespace monomorph::train
