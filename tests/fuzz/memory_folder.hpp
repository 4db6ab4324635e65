#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "memory_file.hpp"

namespace monomorph::fuzz {

/// A folder with files whose bytes lie in memory: their names are links to them.
class MemoryFolder {
 public:
  MemoryFolder() : path_((std::filesystem::temp_directory_path() / "monomorph-fuzz-XXXXXX").string()) {
    require(mkdtemp(path_.data()) != nullptr, "there is a folder for temporary files");
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;
  ~MemoryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  void put(std::string_view name, const MemoryFile& file) const {
    const std::filesystem::path link = std::filesystem::path(path_) / name;
    std::filesystem::remove(link);
    std::filesystem::create_symlink(file.path(), link);
  }

 private:
  std::string path_;
};

}  // namespace monomorph::fuzz
