#pragma once
#include <monomorph/data/formats/document_source.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

namespace monomorph::data {

/// Reads a mapped file in pieces and takes what was read out of memory again, so that little of it is there at a time.
class PieceReader {
 public:
  /// A piece ends between tokens of any width if the document begins at one.
  static constexpr std::uint64_t piece_bytes = std::uint64_t{1} << 20;

  /// @param release takes the file out of memory: see MappedFile::release
  PieceReader(std::span<const std::byte> bytes, std::function<void()> release)
      : bytes_(bytes), release_(std::move(release)) {}

  void read(std::uint64_t offset, std::uint64_t length, const DocumentSource::PieceVisitor& visit);

 private:
  std::span<const std::byte> bytes_;
  std::function<void()> release_;
  std::uint64_t n_resident_ = 0;  ///< bytes that may be in memory since they were last taken out
};

}  // namespace monomorph::data
