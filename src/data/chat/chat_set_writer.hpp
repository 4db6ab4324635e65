#pragma once
#include "data/formats/packed_file_writer.hpp"
#include "data/formats/tokens_hash.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>
#include <monomorph/data/formats/loss_mask.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::data {

/// Writes samples of chats as a packed file with its loss mask. A sample takes `sequence_length` tokens, what its chats
/// leave free is padding that does not count; one more token of padding ends the file, so that the last sample has a
/// last target. Each chat is a document; padding belongs to the chat before it.
class ChatSetWriter {
 public:
  /// @param padding any token
  ChatSetWriter(const std::string& path, const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                std::int64_t sequence_length, std::int32_t padding);

  void add_sample(const std::vector<const EncodedChat*>& chats);
  /// Puts everything on the disk but not yet in its place; to be called after the last sample.
  void finish();
  /// Both files appear, the mask first, so that there are no tokens without their mask.
  void commit();
  /// What was written, once it is finished.
  const LossMaskHeader& header() const noexcept { return header_; }

 private:
  void add_token(std::int32_t id, bool counted);
  /// Hands on what was added.
  void write();
  void end_document();

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
