#pragma once
#include <sys/mman.h>
#include <unistd.h>
#include <string>

#include "harness.hpp"

namespace monomorph::fuzz {

/// Bytes under a path that can be opened and mapped, without a disk.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    require(descriptor_ >= 0, "the system has memfd_create");
    std::size_t written = 0;
    while (written < size) {
      const ssize_t n = ::write(descriptor_, data + written, size - written);
      require(n > 0, "there is memory for the input");
      written += static_cast<std::size_t>(n);
    }
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace monomorph::fuzz
