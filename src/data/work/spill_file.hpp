#pragma once
#include <monomorph/core/atomic_file.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
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
  /// Reads what lies at `offset`, as much as there is of `bytes`, and returns how much that was.
  std::size_t read(std::uint64_t offset, std::span<std::byte> bytes);
  void copy_to(AtomicFile& file);
  /// Empties the buffer and gives its memory back.
  void settle();
  std::uint64_t size() const noexcept { return n_flushed_ + buffer_.size(); }

 private:
  void flush();
  void write_out(std::span<const std::byte> bytes);

  std::string path_;
  int descriptor_;
  std::uint64_t n_flushed_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace monomorph::data
