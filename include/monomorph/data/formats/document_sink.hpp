#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace monomorph::data {

/// A set of documents that is being written. It appears whole, at commit(), or not at all.
class DocumentSink {
 public:
  DocumentSink() = default;
  DocumentSink(const DocumentSink&) = delete;
  DocumentSink& operator=(const DocumentSink&) = delete;
  virtual ~DocumentSink() = default;

  /// More of the current document, which may come in any number of pieces.  @throws [FILE-02], [FILE-03]
  virtual void write(std::span<const std::byte> bytes) = 0;
  virtual void end_document() = 0;
  /// Puts everything on the disk but not yet in its place; nothing can be written any more.
  virtual void finish() = 0;
  /// finish(), and puts the set in its place.
  virtual void commit() = 0;
  /// Removes what commit() has put in its place.
  virtual void withdraw() noexcept = 0;

  virtual std::int64_t n_documents() const noexcept = 0;
  /// Bytes of all documents that have ended.
  virtual std::uint64_t n_bytes() const noexcept = 0;
};

/// Puts all of them in their places, or none where one cannot be.  @throws [FILE-02], [FILE-03]
void commit_together(std::span<const std::unique_ptr<DocumentSink>> sinks);

}  // namespace monomorph::data
