#pragma once
#include <monomorph/data/formats/packed_file.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace monomorph::data {

/// Where the documents of a packed file begin. The index of the file is read once and kept in two bytes for each
/// document and one byte for every 8,192 tokens.
class DocumentStarts {
 public:
  /// @throws [DATA-62] if the documents of the index do not follow each other from the first token to the last;
  ///   [DATA-05], [DATA-06]
  explicit DocumentStarts(const PackedFile& file);

  /// For each of the tokens from `first` on, which must lie in the file, where its document begins, counted from
  /// `first`; 0 if that lies before.
  void read(std::int64_t first, std::span<std::int32_t> starts) const;

 private:
  void add(std::uint64_t token);

  /// The file is seen as pieces of 2^16 tokens.
  std::vector<std::uint16_t> in_piece_;     ///< by document its first token, counted from the beginning of its piece
  std::vector<std::uint64_t> piece_begin_;  ///< by piece its first entry in in_piece_, and at last their number
};

}  // namespace monomorph::data
