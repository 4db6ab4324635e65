#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace monomorph::train {

/// A file to which whole records are appended. Each is passed to the operating system at once, so that it survives if
/// the process is killed.
class AppendFile {
 public:
  enum class Mode { create, create_new, existing_or_new };

  /// @throws Error [FILE-01] the folder does not exist; [FILE-03]
  AppendFile(std::string path, Mode mode);
  AppendFile(AppendFile&& other) noexcept;
  AppendFile& operator=(AppendFile&&) = delete;
  ~AppendFile();

  /// @throws Error [FILE-02] the disk is full; [FILE-03]
  void append(std::string_view record);

  /// Cuts off everything from byte `size` on.   @throws Error [FILE-03]
  void truncate(std::uint64_t size);

  /// Whether the path still names this file: it was not removed, moved or replaced.
  bool is_in_place() const;

  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  int descriptor_;
};

}  // namespace monomorph::train
