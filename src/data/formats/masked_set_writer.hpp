#pragma once
#include "data/formats/packed_file_writer.hpp"
#include "data/formats/tokens_hash.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/formats/loss_mask.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// Writes samples of so many tokens each as a packed file with its loss mask.
class MaskedSetWriter {
 public:
  /// What the mask says of the samples, and the token that fills them up, which may be any.
  struct Samples {
    std::int64_t sequence_length;
    std::uint64_t format;  ///< LossMaskHeader::format
    std::int32_t padding;
  };
  /// @param definition the tokenizer's   @param vocab_size its number of ids
  MaskedSetWriter(const std::string& path, const TokenizerDefinition& definition, std::int64_t vocab_size,
                  const Samples& samples);

  /// What is added from now on is another document than what was added before.
  void begin_document();
  void add_token(std::int32_t id, bool counted);
  /// Adds padding, which does not count, up to the end of the sample. It belongs to the document that was begun last.
  void fill_sample();
  /// A document, of which the first token does not count, as nothing stands before it that could predict it.
  void add_document(std::span<const std::int32_t> ids, const std::vector<bool>& counted);
  /// As fill_sample(), but what is added is a document of its own, which no document before it sees.
  void fill_sample_apart();
  void add_padding() { add_token(padding_, false); }
  /// Whether the next token is the first of a sample.
  bool at_sample_begin() const { return header_.n_tokens % header_.sequence_length == 0; }

  /// Puts everything on the disk but not yet in its place; to be called after the last sample.
  void finish();
  /// Both files appear, the mask first, so that there are no tokens without their mask.
  void commit();
  /// What was written, once it is finished.
  const LossMaskHeader& header() const noexcept { return header_; }

 private:
  /// Hands on what was added.
  void write();

  AtomicFile mask_;
  std::uint32_t bytes_per_token_;
  PackedFileWriter file_;
  std::int32_t padding_;
  LossMaskHeader header_;
  TokensHash tokens_hash_;
  Xxh64 bits_hash_;
  std::vector<std::byte> tokens_, bits_;  ///< not written yet
};

}  // namespace monomorph::data
