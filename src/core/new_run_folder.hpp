#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/core/folder_lock.hpp>

#include <string>
#include <vector>

namespace monomorph {

/// A run folder that is made by something else than a run. While it is made no run begins there, and what has come into
/// it is removed again unless it is kept.
class NewRunFolder {
 public:
  /// @param path of a folder that is empty or not there
  /// @throws UsageError with this id, another process has the folder, or has filled it meanwhile; [FILE-01] and
  ///   following
  NewRunFolder(const std::string& path, ErrorId id);
  NewRunFolder(const NewRunFolder&) = delete;
  ~NewRunFolder();
  void keep() { is_kept_ = true; }

 private:
  std::string path_;
  FolderLock lock_;
  std::vector<std::string> before_;  ///< what was there when the folder became this process's
  bool is_kept_ = false;
};

}  // namespace monomorph
