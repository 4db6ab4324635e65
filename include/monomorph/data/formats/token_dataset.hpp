#pragma once
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/data/formats/last_target.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/formats/target_token.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace monomorph::data {

/// The tokens of one packed file cut into samples of T inputs and T targets, without regard to documents.
class TokenDataset {
 public:
  /// @throws [DATA-13] if T < 1; [DATA-07] if any id is not below `vocab_size`; [DATA-08] if the file has less than one
  ///   sample; [DATA-65] if tokens are their own targets, and the last one is not reused; [DATA-06]; if a loss mask
  ///   lies beside it: [CHAT-10], [CHAT-11], [CHAT-12]
  TokenDataset(const std::string& path, std::int64_t sequence_length, std::int64_t vocab_size, LastTarget last_target,
               TargetToken target = TargetToken::next);

  /// With the last target reused, or itself an input, sample i begins at token i T; else at i (T + 1).
  std::int64_t n_samples() const noexcept { return n_samples_; }
  std::int64_t n_tokens() const noexcept { return file_.n_tokens(); }
  std::int64_t sequence_length() const noexcept { return sequence_length_; }
  std::int64_t vocab_size() const noexcept { return vocab_size_; }
  const PackedFile& file() const noexcept { return file_; }
  /// The largest id in the file when it was opened.
  std::int32_t largest_id() const noexcept { return largest_id_; }

  /// What lies beside the file, if anything.
  const std::optional<LossMask>& loss_mask() const noexcept { return mask_; }

  /// The token that sample `index` begins with.
  std::int64_t first_token(std::int64_t index) const noexcept { return index * stride_; }

  /// A hash of the tokens; of a file of more than 256 MB, a hash of a part of them.
  std::uint64_t tokens_hash() const;
  /// @throws [PAIRS-04] unless pack_texts() made the set of samples that hold so many texts each
  void check_texts(std::int64_t texts_per_sample) const;
  /// How many tokens count as targets, of all that may be one: all but the first, if a target is the next token.
  std::int64_t n_counted() const;

  /// Sample `index` as T inputs and the target of each: the token that follows it, or itself. Where a loss mask lies
  /// beside the file, those that do not count are `ignored_target`.  @throws [DATA-07]
  void read(std::int64_t index, std::int32_t* inputs_T, std::int32_t* targets_T) const;

  /// Tokens [first, first + ids.size()), which must lie in the file.  @throws [DATA-07]
  void read_tokens(std::int64_t first, std::span<std::int32_t> ids) const;

  /// The targets of the tokens that read_tokens gives, `ignored_target` where the mask leaves one out.
  /// @throws [DATA-07]
  void read_targets(std::int64_t first, std::span<std::int32_t> targets) const;

  /// @throws [DATA-09] if the file has changed since it was opened
  void check_unchanged() const { file_.check_unchanged(); }

 private:
  void check_id(std::int32_t largest) const;

  PackedFile file_;
  std::optional<LossMask> mask_;
  std::int64_t sequence_length_, vocab_size_;
  std::int64_t shift_;  ///< tokens from an input to its target
  std::int64_t stride_, n_samples_;
  std::int32_t largest_id_;
};

}  // namespace monomorph::data
