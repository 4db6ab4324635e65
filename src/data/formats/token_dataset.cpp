#include "data/formats/tokens_hash.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/token_dataset.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {

TokenDataset::TokenDataset(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size,
                           LastTarget last_target, TargetToken target)
    : file_(path),
      mask_(LossMask::beside(file_)),
      sequence_length_(sequence_length),
      vocab_size_(vocab_size),
      shift_(target == TargetToken::next ? 1 : 0),
      stride_(last_target == LastTarget::reused ? sequence_length : sequence_length + 1),
      n_samples_(0),
      largest_id_(0) {
  if (sequence_length < 1)
    throw UsageError("DATA-13", "a sample must have at least one token; change the sequence length");
  if (target == TargetToken::itself && last_target != LastTarget::reused)
    throw UsageError("DATA-65",
                     "data.last_target must be \"reused\" where tokens are their own targets, as none lies between "
                     "samples; "
                     "remove it, or change the recipe's objective");
  if (file_.n_tokens() < sequence_length + shift_) {
    throw UsageError(
        "DATA-08",
        fmt::format("{} has {} tokens, and one sample takes {} (a sequence of {}{}); give a longer text or a "
                    "shorter sequence",
                    in_quotes(path), file_.n_tokens(), sequence_length + shift_, sequence_length,
                    shift_ > 0 ? " and the token after it" : ""));
  }
  if (mask_) mask_->check_samples(sequence_length, last_target);
  n_samples_ = (file_.n_tokens() - sequence_length - shift_) / stride_ + 1;
  largest_id_ = file_.largest_id();
  check_id(largest_id_);
}

std::uint64_t TokenDataset::tokens_hash() const { return TokensHash::of(file_.data()); }

std::int64_t TokenDataset::n_counted() const {
  if (!mask_) return n_tokens() - shift_;
  return static_cast<std::int64_t>(mask_->header().n_counted) - (mask_->counts(0) ? shift_ : 0);
}

void TokenDataset::check_texts(std::int64_t texts_per_sample) const {
  if (mask_ && mask_->header().format == texts_format(texts_per_sample)) return;
  throw UsageError("PAIRS-04",
                   fmt::format("{} must be a set of samples of {} texts each, and was not made as one; make it with "
                               "monomorph-data pairs, --sequence-length {}",
                               in_quotes(file_.path()), texts_per_sample, sequence_length_));
}

void TokenDataset::check_id(std::int32_t largest) const {
  if (largest < vocab_size_) return;
  throw UsageError("DATA-07",
                   fmt::format("{} has the token id {}, and the model's vocabulary ends at {}; pack the text with "
                               "the tokenizer of this vocabulary",
                               in_quotes(file_.path()), largest, vocab_size_ - 1));
}

void TokenDataset::read(std::int64_t index, std::int32_t* inputs_T, std::int32_t* targets_T) const {
  const auto size = static_cast<std::size_t>(sequence_length_);
  const std::int64_t first = first_token(index);
  read_tokens(first, std::span(inputs_T, size));
  std::copy(inputs_T + shift_, inputs_T + size, targets_T);
  read_tokens(first + sequence_length_,
              std::span(targets_T + sequence_length_ - shift_, static_cast<std::size_t>(shift_)));
  if (mask_) mask_->apply(first + shift_, std::span(targets_T, size));
}

void TokenDataset::read_tokens(std::int64_t first, std::span<std::int32_t> ids) const {
  check_id(file_.read(first, ids));
}

void TokenDataset::read_targets(std::int64_t first, std::span<std::int32_t> targets) const {
  read_tokens(first + shift_, targets);
  if (mask_) mask_->apply(first + shift_, targets);
}

}  // namespace monomorph::data
