#pragma once
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/last_target.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace monomorph::data {

// A loss mask (.mask) beside a packed file: a header, then one bit for each token, the first in the lowest bit of the
// first byte; 1 says that the token counts where it is a target. All numbers are little-endian and unsigned.
struct LossMaskHeader {
  std::uint64_t n_tokens = 0;
  std::uint64_t n_counted = 0;
  std::uint64_t sequence_length = 0;  ///< of the samples that the tokens were laid out in
  std::uint64_t tokens_hash = 0;      ///< of the packed file's tokens
  std::uint64_t vocabulary = 0;       ///< fingerprint of the tokenizer
  std::uint64_t format = 0;           ///< what the samples are: fingerprint of a chat template, or texts_format()
  std::uint64_t hash = 0;             ///< XXH64 of the bits, then of the header before this number
};
inline constexpr std::size_t loss_mask_header_bytes = 72;
std::array<std::byte, loss_mask_header_bytes> to_bytes(const LossMaskHeader& header);
/// What `hash` must be.
/// @param bits_hash has taken the bits
std::uint64_t hash_of(const LossMaskHeader& header, Xxh64 bits_hash);

/// What `format` is of samples that hold so many texts each, one after the other, and then padding.
std::uint64_t texts_format(std::int64_t texts_per_sample);

/// What `vocabulary` is: changes whenever an id means another token.
std::uint64_t fingerprint(const TokenizerDefinition& definition);

/// Where the mask of a packed file lies: F.mask beside F.pbin, and the extension is added to any other name.
std::string loss_mask_path(const std::string& packed_file);

/// Refuses a set that has a loss mask: its documents, taken out or put into another order, would lose the mask, and
/// with it what they were made for.  @throws [CHAT-14] if a mask lies beside `packed_file`
void refuse_loss_mask(const std::string& packed_file);

/// Which tokens of a packed file count in the loss.
class LossMask {
 public:
  /// The mask beside a packed file; nothing if there is none.
  /// @throws [CHAT-10] if it is damaged or no mask; [CHAT-11] if it was made for other tokens
  static std::optional<LossMask> beside(const PackedFile& file);

  /// @throws [CHAT-10], [CHAT-11], [FILE-NN]
  LossMask(const std::string& path, const PackedFile& file);

  /// Puts `ignored_target` in the place of the targets that do not count.
  /// @param first_token the token of the packed file that targets[0] is; the range must lie in the file
  void apply(std::int64_t first_token, std::span<std::int32_t> targets) const;
  bool counts(std::int64_t token) const;

  /// Refuses a tokenizer to which the ids of the set mean other tokens, as the run would be trained on another text.
  /// @param from what the definition was read from, to be named  @throws [CHAT-15]
  void check_tokenizer(const TokenizerDefinition& definition, const std::string& from) const;
  /// Refuses samples that begin elsewhere than those of the mask, as they would cut the chats.
  /// @throws [CHAT-12] unless they have its length and begin where the one before ends
  void check_samples(std::int64_t sequence_length, LastTarget last_target) const;
  const LossMaskHeader& header() const noexcept { return header_; }
  const std::string& path() const noexcept { return file_.path(); }

 private:
  MappedFile file_;
  LossMaskHeader header_;
  std::span<const std::byte> bits_;
};

}  // namespace monomorph::data
