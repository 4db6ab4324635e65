#include "data/formats/packed_file_writer.hpp"

#include <monomorph/data/formats/packed_file.hpp>

namespace monomorph::data {

PackedFileWriter::PackedFileWriter(const std::string& path, std::uint32_t bytes_per_token)
    : bytes_per_token_(bytes_per_token),
      file_(path),
      spill_(path),
      index_([this](std::span<const std::byte> bytes) { spill_->write(bytes); }) {
  file_.write(packed_header(0, bytes_per_token_));
}

void PackedFileWriter::write(std::span<const std::byte> tokens) {
  file_.write(tokens);
  n_document_bytes_ += tokens.size();
}

void PackedFileWriter::end_document() {
  index_.add({n_bytes_, n_document_bytes_});
  n_bytes_ += n_document_bytes_;
  n_document_bytes_ = 0;
}

void PackedFileWriter::finish() {
  if (!spill_) return;
  index_.finish();
  spill_->copy_to(file_);
  spill_.reset();
  file_.write_at(0, packed_header(n_bytes_, bytes_per_token_));
  file_.finish();
}

void PackedFileWriter::commit() {
  finish();
  file_.commit();
}

}  // namespace monomorph::data
