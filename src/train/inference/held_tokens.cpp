#include "train/inference/held_tokens.hpp"

#include <span>

namespace monomorph::train {

void HeldTokens::push(std::int32_t id, const std::string& shown) {
  if (!shown.empty()) {
    ids_.clear();
    n_left_out_ = 1;
  }
  ids_.push_back(id);
}

std::string HeldTokens::text() const {
  if (n_left_out_ == ids_.size() || ids_.size() > longest_run) return "";
  const std::string before = tokenizer_->decode(std::span(ids_).first(n_left_out_), true),
                    all = tokenizer_->decode(ids_, true);
  const bool is_broken = all.find("\xEF\xBF\xBD") != std::string::npos;  // U+FFFD
  return is_broken || !all.starts_with(before) ? "" : all.substr(before.size());
}

}  // namespace monomorph::train
