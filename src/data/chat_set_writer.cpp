#include "data/chat_set_writer.hpp"

#include <monomorph/data/packed_file.hpp>

#include <filesystem>

namespace monomorph::data {
namespace {

/// Changes whenever an id means another token.
std::uint64_t fingerprint(const TokenizerDefinition& definition) {
  Xxh64 hash;
  for (const std::string& token : definition.vocabulary) {
    hash.update(std::as_bytes(std::span(token.c_str(), token.size() + 1)));  // its zero keeps neighbours apart
  }
  return hash.digest();
}

}  // namespace

ChatSetWriter::ChatSetWriter(const std::string& path, const Tokenizer& tokenizer, const ChatTemplate& chat_template,
                             std::int64_t sequence_length, std::int32_t padding)
    : mask_path_(loss_mask_path(path)),
      file_(path),
      mask_(mask_path_),
      spill_(path),
      index_([this](std::span<const std::byte> bytes) { spill_.write(bytes); }),
      bytes_per_token_(bytes_per_token_for(tokenizer.vocab_size())),
      padding_(padding),
      header_{.sequence_length = static_cast<std::uint64_t>(sequence_length),
              .vocabulary = fingerprint(tokenizer.definition()),
              .chat_template = data::fingerprint(chat_template)} {
  file_.write(packed_header(0, bytes_per_token_));
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

void ChatSetWriter::end_document(std::uint64_t n_tokens) {
  if (document_) index_.add(*document_);
  document_ = {(header_.n_tokens - n_tokens) * bytes_per_token_, n_tokens * bytes_per_token_};
}

void ChatSetWriter::add_sample(const std::vector<const EncodedChat*>& chats) {
  const std::uint64_t end = header_.n_tokens + header_.sequence_length;
  for (const EncodedChat* chat : chats) {
    // Nothing stands before the first token that could predict it.
    for (std::size_t i = 0; i < chat->ids.size(); ++i) add_token(chat->ids[i], i > 0 && chat->counted[i]);
    end_document(chat->ids.size());
  }
  document_->length += (end - header_.n_tokens) * bytes_per_token_;
  while (header_.n_tokens < end) add_token(padding_, false);
  write_pieces();
}

void ChatSetWriter::write_pieces() {
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

LossMaskHeader ChatSetWriter::commit() {
  add_token(padding_, false);
  document_->length += bytes_per_token_;
  index_.add(*document_);
  index_.finish();
  write_pieces();
  mask_.write(bits_);
  bits_hash_.update(bits_);
  spill_.copy_to(file_);
  file_.write_at(0, packed_header(header_.n_tokens * bytes_per_token_, bytes_per_token_));
  header_.tokens_hash = tokens_hash_.digest();
  header_.hash = hash_of(header_, bits_hash_);
  mask_.write_at(0, to_bytes(header_));
  mask_.commit();
  try {
    file_.commit();
  } catch (...) {
    std::error_code ignored;  // the failure that is being reported matters more
    std::filesystem::remove(mask_path_, ignored);
    throw;
  }
  return header_;
}

}  // namespace monomorph::data
