#pragma once
#include <cstddef>

namespace monomorph::train {

/// Lets the pages of mapped files go as they are read, so that little of the files lies in memory beside what is made
/// of them.
class HeldPages {
 public:
  /// Bytes that are read before the files are let go: the system is asked once for each file, of which there may be
  /// hundreds.
  static constexpr std::size_t most_bytes = std::size_t{16} << 20;

  /// @param bytes that were read   @param release lets go of all files
  template <class Release> void add(std::size_t bytes, Release release) {
    held_ += bytes;
    if (held_ < most_bytes) return;
    release();
    held_ = 0;
  }

 private:
  std::size_t held_ = 0;
};

}  // namespace monomorph::train
