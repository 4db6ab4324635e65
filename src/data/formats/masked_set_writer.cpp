#include "data/formats/masked_set_writer.hpp"

#include <monomorph/data/formats/packed_file.hpp>

namespace monomorph::data {

MaskedSetWriter::MaskedSetWriter(const std::string& path, const TokenizerDefinition& definition,
                                 std::int64_t vocab_size, const Samples& samples)
    : mask_(loss_mask_path(path)),
      bytes_per_token_(bytes_per_token_for(vocab_size)),
      file_(path, bytes_per_token_),
      padding_(samples.padding),
      header_{.sequence_length = static_cast<std::uint64_t>(samples.sequence_length),
              .vocabulary = fingerprint(definition),
              .format = samples.format} {
  mask_.write(to_bytes({}));
}

void MaskedSetWriter::add_token(std::int32_t id, bool counted) {
  for (std::uint32_t i = 0; i < bytes_per_token_; ++i) tokens_.push_back(static_cast<std::byte>(id >> (8 * i)));
  const auto bit = header_.n_tokens % 8;
  if (bit == 0) bits_.push_back(std::byte{0});
  if (counted) bits_.back() |= std::byte{1} << bit;
  header_.n_counted += counted ? 1 : 0;
  ++header_.n_tokens;
}

void MaskedSetWriter::write() {
  file_.write(tokens_);
  tokens_hash_.update(tokens_);
  tokens_.clear();
  // The last byte is kept back, as later tokens may still set bits of it.
  const std::size_t n_whole = header_.n_tokens % 8 == 0 ? bits_.size() : bits_.size() - 1;
  const auto whole = std::span(bits_).first(n_whole);
  mask_.write(whole);
  bits_hash_.update(whole);
  bits_.erase(bits_.begin(), bits_.begin() + static_cast<std::ptrdiff_t>(n_whole));
}

void MaskedSetWriter::begin_document() {
  if (header_.n_tokens == 0) return;  // no document has begun that could end
  write();
  file_.end_document();
}

void MaskedSetWriter::fill_sample() {
  while (!at_sample_begin()) add_padding();
}

void MaskedSetWriter::add_document(std::span<const std::int32_t> ids, const std::vector<bool>& counted) {
  begin_document();
  for (std::size_t i = 0; i < ids.size(); ++i) add_token(ids[i], i > 0 && counted[i]);
}

void MaskedSetWriter::fill_sample_apart() {
  if (at_sample_begin()) return;
  begin_document();
  fill_sample();
}

void MaskedSetWriter::finish() {
  begin_document();  // which ends the last document
  mask_.write(bits_);
  bits_hash_.update(bits_);
  header_.tokens_hash = tokens_hash_.digest();
  header_.hash = hash_of(header_, bits_hash_);
  mask_.write_at(0, to_bytes(header_));
  mask_.finish();
  file_.finish();
}

void MaskedSetWriter::commit() {
  mask_.commit();
  try {
    file_.commit();
  } catch (...) {
    mask_.withdraw();
    throw;
  }
}

}  // namespace monomorph::data
