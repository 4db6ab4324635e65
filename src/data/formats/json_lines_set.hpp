#pragma once
#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/records/input_file.hpp>

namespace monomorph::data {

/// The lines of a JSON Lines file. What they hold is not looked at, but a blank line is no document.
class JsonLinesSet : public DocumentSource {
 public:
  /// @throws [FILE-NN]; [DATA-04] if the file is empty
  explicit JsonLinesSet(const std::string& path);

  /// @throws [DATA-02] for a blank line
  void for_each(const Visitor& visit) override;
  void read(const PieceVisitor& visit) override;
  std::uint64_t n_bytes() const override { return n_bytes_; }
  const std::string& path() const override { return path_; }

 private:
  std::string path_;
  std::uint64_t n_bytes_;
  Line current_{};
};

/// A JSON Lines file that is being written, every line with its newline.
class JsonLinesWriter : public DocumentSink {
 public:
  explicit JsonLinesWriter(const std::string& path) : file_(path) {}

  void write(std::span<const std::byte> bytes) override;
  void end_document() override;
  void finish() override { file_.finish(); }
  void commit() override { file_.commit(); }
  void withdraw() noexcept override { file_.withdraw(); }

  std::int64_t n_documents() const noexcept override { return n_documents_; }
  std::uint64_t n_bytes() const noexcept override { return n_bytes_; }

 private:
  AtomicFile file_;
  std::int64_t n_documents_ = 0;
  std::uint64_t n_bytes_ = 0;
};

}  // namespace monomorph::data
