#pragma once
#include <string>
#include <string_view>

namespace monomorph {

/// Files that come into a folder together or not at all, so that an export which fails leaves nothing behind and can be
/// made again in the same folder. Until then they lie in a hidden folder within it: what others put there meanwhile is
/// theirs. What a process that was killed has left is removed by the next one.
class NewFiles {
 public:
  /// @param folder created if it is not there   @throws [FILE-01] and following
  explicit NewFiles(std::string folder);
  NewFiles(const NewFiles&) = delete;
  ~NewFiles();

  const std::string& place() const { return place_; }  ///< the folder where they are to be written
  /// Moves them into the folder, and the one of this name behind the others: without it the folder is not taken for
  /// what they make together.  @throws [FILE-01] and following; none has come then that was not there before
  void keep(std::string_view last);

 private:
  std::string folder_;
  bool was_there_;
  std::string place_;
  int descriptor_ = -1;  ///< of the hidden folder, locked as long as this process lives
};

}  // namespace monomorph
