#pragma once
#include "data/work/spill_file.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/formats/document_sink.hpp>
#include <monomorph/data/formats/span_index.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace monomorph::data {

/// A packed file that is being written, document by document, from tokens as they lie in the file. The index is kept on
/// the disk until the tokens are complete.
class PackedFileWriter : public DocumentSink {
 public:
  /// @throws as AtomicFile does
  PackedFileWriter(const std::string& path, std::uint32_t bytes_per_token);

  void write(std::span<const std::byte> tokens) override;
  void end_document() override;
  void finish() override;
  void commit() override;
  void withdraw() noexcept override { file_.withdraw(); }

  std::int64_t n_documents() const noexcept override { return index_.size(); }
  std::uint64_t n_bytes() const noexcept override { return n_bytes_; }

 private:
  std::uint32_t bytes_per_token_;
  AtomicFile file_;
  std::optional<SpillFile> spill_;  ///< nothing once the file is finished
  SpanIndexWriter index_;
  std::uint64_t n_bytes_ = 0;           ///< of the documents that have ended
  std::uint64_t n_document_bytes_ = 0;  ///< of the current one
};

}  // namespace monomorph::data
