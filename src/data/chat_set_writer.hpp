#pragma once
#include "data/spill_file.hpp"
#include "data/tokens_hash.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/chat_encoder.hpp>
#include <monomorph/data/loss_mask.hpp>
#include <monomorph/data/span_index.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
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
  /// What was written. Both files appear, the mask first, so that there are no tokens without their mask.
  LossMaskHeader commit();

 private:
  void add_token(std::int32_t id, bool counted);
  void end_document(std::uint64_t n_tokens);
  void write_pieces();

  std::string mask_path_;
  AtomicFile file_, mask_;
  SpillFile spill_;
  SpanIndexWriter index_;
  std::uint32_t bytes_per_token_;
  std::int32_t padding_;
  LossMaskHeader header_;
  TokensHash tokens_hash_;
  Xxh64 bits_hash_;
  std::vector<std::byte> tokens_, bits_;  ///< not written yet
  std::optional<DocumentSpan> document_;  ///< the latest: it may still grow
};

}  // namespace monomorph::data
