#include "data/packed_file_writer.hpp"

#include <monomorph/data/packed_file.hpp>

namespace monomorph::data {

PackedFileWriter::PackedFileWriter(const std::string& path, const Tokenizer& tokenizer, std::int32_t end_of_document)
    : file_(path),
      spill_(path),
      index_([this](std::span<const std::byte> bytes) { spill_.write(bytes); }),
      end_of_document_(end_of_document) {
  summary_.bytes_per_token = bytes_per_token_for(tokenizer.vocab_size());
  file_.write(packed_header(0, summary_.bytes_per_token));
}

void PackedFileWriter::add(std::span<const std::int32_t> ids) {
  if (ids.empty()) return;
  bytes_.clear();
  for (const std::int32_t id : ids) {
    for (std::uint32_t i = 0; i < summary_.bytes_per_token; ++i) bytes_.push_back(static_cast<std::byte>(id >> (8 * i)));
  }
  file_.write(bytes_);
  last_ = ids.back();
  n_document_tokens_ += static_cast<std::int64_t>(ids.size());
}

void PackedFileWriter::end_document() {
  if (n_document_tokens_ == 0) ++summary_.n_empty_documents;
  if (last_ != end_of_document_) add(std::span(&end_of_document_, 1));
  const auto width = static_cast<std::uint64_t>(summary_.bytes_per_token);
  index_.add(
      {static_cast<std::uint64_t>(summary_.n_tokens) * width, static_cast<std::uint64_t>(n_document_tokens_) * width});
  summary_.n_tokens += n_document_tokens_;
  ++summary_.n_documents;
  n_document_tokens_ = 0;
  last_.reset();
}

PackSummary PackedFileWriter::commit() {
  index_.finish();
  spill_.copy_to(file_);
  const auto data_bytes = static_cast<std::uint64_t>(summary_.n_tokens) * summary_.bytes_per_token;
  file_.write_at(0, packed_header(data_bytes, summary_.bytes_per_token));
  file_.commit();
  return summary_;
}

}  // namespace monomorph::data
