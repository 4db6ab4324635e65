#include "data/chat/chat_set_writer.hpp"

#include <monomorph/data/formats/packed_file.hpp>

namespace monomorph::data {

ChatSetWriter::ChatSetWriter(const std::string& path, const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                             std::int64_t sequence_length, std::int32_t padding)
    : mask_(loss_mask_path(path)),
      bytes_per_token_(bytes_per_token_for(tokenizer.vocab_size())),
      file_(path, bytes_per_token_),
      padding_(padding),
      header_{.sequence_length = static_cast<std::uint64_t>(sequence_length),
              .vocabulary = fingerprint(tokenizer.definition()),
              .chat_template = fingerprint(chat_template)} {
  mask_.write(to_bytes({}));
}

void ChatSetWriter::add_token(std::int32_t id, bool counted) {
  for (std::uint32_t i = 0; i < bytes_per_token_; ++i) tokens_.push_back(static_cast<std::byte>(id >> (8 * i)));
  const auto bit = header_.n_tokens % 8;
  if (bit == 0) bits_.push_back(std::byte{0});
  if (counted) bits_.back() |= std::byte{1} << bit;
  header_.n_counted += counted ? 1 : 0;
  ++header_.n_tokens;
}

void ChatSetWriter::write() {
  file_.write(tokens_);
  tokens_hash_.update(tokens_);
  tokens_.clear();
  // The last byte may still get bits.
  const std::size_t n_whole = header_.n_tokens % 8 == 0 ? bits_.size() : bits_.size() - 1;
  const auto whole = std::span(bits_).first(n_whole);
  mask_.write(whole);
  bits_hash_.update(whole);
  bits_.erase(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(n_whole));
}

void ChatSetWriter::end_document() {
  if (header_.n_tokens == 0) return;  // none has begun
  write();
  file_.end_document();
}

void ChatSetWriter::add_sample(const std::vector<const EncodedChat*>& chats) {
  const std::uint64_t end = header_.n_tokens + header_.sequence_length;
  for (const EncodedChat* chat : chats) {
    end_document();  // of the chat before, which has got its padding
    // Nothing stands before the first token that could predict it.
    for (std::size_t i = 0; i < chat->ids.size(); ++i) add_token(chat->ids[i], i > 0 && chat->counted[i]);
  }
  while (header_.n_tokens < end) add_token(padding_, false);
}

void ChatSetWriter::finish() {
  add_token(padding_, false);
  end_document();
  mask_.write(bits_);
  bits_hash_.update(bits_);
  header_.tokens_hash = tokens_hash_.digest();
  header_.hash = hash_of(header_, bits_hash_);
  mask_.write_at(0, to_bytes(header_));
  mask_.finish();
  file_.finish();
}

void ChatSetWriter::commit() {
  mask_.commit();
  try {
    file_.commit();
  } catch (...) {
    mask_.withdraw();
    throw;
  }
}

}  // namespace monomorph::data
