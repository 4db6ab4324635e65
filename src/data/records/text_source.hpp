#pragma once
#include <cstddef>

namespace monomorph::data {

/// A text that is made of a file piece by piece, in memory that is bounded whatever the file says.
class TextSource {
 public:
  TextSource() = default;
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;
  virtual ~TextSource() = default;
  /// Up to `n_bytes` of text; 0 at its end.
  /// @throws [DATA-70] the file is damaged or cut short; [DATA-72] it is a bomb; what reading throws
  virtual std::size_t read_some(char* to, std::size_t n_bytes) = 0;
};

}  // namespace monomorph::data
