#pragma once
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "harness.hpp"

namespace monomorph::fuzz {

/// A folder with files, in memory where the system has a place for that. They are no links to files in memory, as what
/// reads folders of models follows none that lead out of them.
class MemoryFolder {
 public:
  MemoryFolder() : path_((place() / "monomorph-fuzz-XXXXXX").string()) {
    require(mkdtemp(path_.data()) != nullptr, "there is a folder for temporary files");
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  /// In the place of the file that has the name, which may be mapped.
  void put(std::string_view name, std::string_view bytes) const {
    const std::filesystem::path path = std::filesystem::path(path_) / name;
    std::filesystem::remove(path);
    std::ofstream file(path, std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    require(file.good(), "there is memory for the input");
  }

 private:
  static std::filesystem::path place() {
    const std::filesystem::path memory = "/dev/shm";
    return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
  }

  std::string path_;
};

}  // namespace monomorph::fuzz
