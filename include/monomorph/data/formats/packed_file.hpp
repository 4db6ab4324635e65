#pragma once
#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/formats/span_index.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

// A packed file (.pbin): 8 bytes, length of the data section | 4 bytes, bytes per token | token ids | index, a pickle
// of (offset, length) in bytes of the data section. All numbers are little-endian and unsigned.
inline constexpr std::size_t packed_header_bytes = 12;
std::array<std::byte, packed_header_bytes> packed_header(std::uint64_t data_bytes, std::uint32_t bytes_per_token);

/// 1 up to 256 tokens, 2 up to 65,536, else 4.
std::uint32_t bytes_per_token_for(std::int64_t vocab_size);

/// The token ids of a packed file, mapped into memory.
class PackedFile {
 public:
  /// Checks the header and the frames of the index against the size of the file.
  /// @throws [DATA-06] if they do not agree; [FILE-NN]
  explicit PackedFile(const std::string& path);

  std::int64_t n_tokens() const noexcept { return static_cast<std::int64_t>(data_.size() / bytes_per_token_); }
  std::uint32_t bytes_per_token() const noexcept { return bytes_per_token_; }
  const std::string& path() const noexcept { return file_.path(); }

  /// Copies the tokens [first, first + ids.size()) and returns the largest of them; an id beyond int32 counts as its
  /// largest value. The range must lie in the file.
  std::int32_t read(std::int64_t first, std::span<std::int32_t> ids) const;

  /// The largest of all ids, by several threads if there are many; an id beyond int32 counts as its largest value, and
  /// 0 is that of no tokens.
  std::int32_t largest_id() const;

  /// @throws [DATA-09] if the file's size or time has changed since it was opened
  void check_unchanged() const { file_.check_unchanged(); }

  /// Parses the index.  @throws [DATA-05]; [DATA-06] if a span leaves the data section or cuts a token
  std::vector<DocumentSpan> documents() const;
  /// Calls `visit` for each of them, in bounded memory.  @throws as documents()
  void for_each_document(const std::function<void(DocumentSpan)>& visit) const;

  /// The data section: all tokens as they lie in the file.
  std::span<const std::byte> data() const noexcept { return data_; }
  /// The pickle that says where the documents are.
  std::span<const std::byte> index() const noexcept { return index_; }
  /// See MappedFile::release.
  void release() const noexcept { file_.release(); }

 private:
  MappedFile file_;
  std::uint32_t bytes_per_token_ = 0;
  std::span<const std::byte> data_, index_;
};

}  // namespace monomorph::data
