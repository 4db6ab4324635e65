#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace monomorph::simulator {

/// Through which ranks that are processes of this machine send each other what GPUs would: files in a folder, each of
/// which is there as a whole or not at all. A rank that ends, however it does, lets go of the file that it holds.
class Mailbox {
 public:
  /// @return the name of an empty folder that no other has
  static std::string make();

  /// @param note for the others to read   @param size of the group
  Mailbox(std::filesystem::path folder, int rank, int size, int note);
  Mailbox(const Mailbox&) = delete;
  ~Mailbox();

  bool all_have_come() const;
  /// What each rank has noted. All have come.
  std::vector<int> notes() const;
  /// A rank that came, and ended without saying that it leaves; -1 if there is none.
  int vanished() const;
  /// This rank takes part in nothing any more. The last one removes the folder.
  void leave();

  void send(const std::string& letter, std::span<const std::byte> bytes) const;
  bool has(const std::string& letter) const { return std::filesystem::exists(folder_ / letter); }
  std::vector<std::byte> read(const std::string& letter) const;
  void remove(const std::string& letter) const { std::filesystem::remove(folder_ / letter); }

 private:
  std::filesystem::path held(int rank) const { return folder_ / ("rank " + std::to_string(rank)); }
  std::filesystem::path left(int rank) const { return folder_ / ("left " + std::to_string(rank)); }

  std::filesystem::path folder_;
  int rank_, size_, descriptor_ = -1;
};

}  // namespace monomorph::simulator
