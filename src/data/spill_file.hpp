#pragma once
#include <monomorph/core/atomic_file.hpp>

#include <string>
#include <vector>

namespace monomorph::data {

/// Bytes that are set aside on the disk until their place in the output is known. The file has no name, so nothing is
/// left of it whatever ends the program.
class SpillFile {
 public:
  /// @param beside a path in the folder that is to hold the bytes   @throws [FILE-NN]
  explicit SpillFile(const std::string& beside);
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;
  ~SpillFile();

  void write(std::span<const std::byte> bytes);
  void copy_to(AtomicFile& file);

 private:
  void flush();

  std::string path_;
  int descriptor_;
  std::vector<std::byte> buffer_;
};

}  // namespace monomorph::data
