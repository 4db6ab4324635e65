#pragma once
#include "data/records/decompressor.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// Counts on it that no text that is worth training on shrinks so far: what does is meant to keep its reader busy for
/// ever.
/// @param n_read bytes of the file   @throws [DATA-72]
void refuse_bomb(const std::string& path, std::uint64_t n_read, std::uint64_t n_text);

/// What decompressors of every format have in common: the bytes of the file that are read and not yet used up, and how
/// much has become of how many.
class CompressedBytes {
 public:
  CompressedBytes(const std::string& path, ReadCompressed read);

  /// Reads more if all is used up; false at the end of the file.
  bool fill();
  const char* data() const { return buffer_.data() + begin_; }
  std::size_t size() const { return end_ - begin_; }
  void use(std::size_t n_bytes) { begin_ += n_bytes; }

  /// Counts the text that was made.   @throws [DATA-72] it is too much of too little
  void count_text(std::size_t n_bytes);
  /// @throws [DATA-70]
  [[noreturn]] void throw_damaged(std::string_view why) const;

 private:
  std::string path_;
  ReadCompressed read_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
  std::uint64_t n_read_ = 0, n_text_ = 0;
};

}  // namespace monomorph::data
