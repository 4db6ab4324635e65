#include "simulator/mailbox.hpp"

#include "simulator/whole_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include "support/temporary_folder.hpp"

namespace monomorph::simulator {

std::string Mailbox::make() {
  std::string name = (std::filesystem::temp_directory_path() / "simulated_nccl_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("the simulated NCCL cannot make the folder " + name);
  return name;
}

Mailbox::Mailbox(std::filesystem::path folder, int rank, int size, int note)
    : folder_(std::move(folder)), rank_(rank), size_(size) {
  const std::filesystem::path unfinished = held(rank).string() + " unfinished";
  descriptor_ = open(unfinished.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0 || flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
    throw std::runtime_error("the simulated NCCL cannot hold " + unfinished.string());
  if (write(descriptor_, &note, sizeof note) != sizeof note)
    throw std::runtime_error("the simulated NCCL cannot write to " + unfinished.string());
  std::filesystem::rename(unfinished, held(rank));
}

Mailbox::~Mailbox() { leave(); }

bool Mailbox::all_have_come() const {
  for (int rank = 0; rank < size_; ++rank)
    if (!std::filesystem::exists(held(rank))) return false;
  return true;
}

std::vector<int> Mailbox::notes() const {
  std::vector<int> notes(static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank)
    std::ifstream(held(rank), std::ios::binary)
        .read(reinterpret_cast<char*>(&notes[static_cast<std::size_t>(rank)]), sizeof(int));
  return notes;
}

int Mailbox::vanished() const {
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_ || std::filesystem::exists(left(rank))) continue;
    const int descriptor = open(held(rank).c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;  // it has not come yet
    const bool is_held = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
    close(descriptor);
    if (!is_held && !std::filesystem::exists(left(rank))) return rank;
  }
  return -1;
}

void Mailbox::leave() {
  if (descriptor_ < 0) return;
  write_whole(left(rank_), {});
  close(descriptor_);
  descriptor_ = -1;
  for (int rank = 0; rank < size_; ++rank)
    if (!std::filesystem::exists(left(rank))) return;
  std::error_code another_rank_does_it;
  std::filesystem::remove_all(folder_, another_rank_does_it);
}

void Mailbox::send(const std::string& letter, std::span<const std::byte> bytes) const {
  write_whole(folder_ / letter, bytes);
}

std::vector<std::byte> Mailbox::read(const std::string& letter) const {
  const std::string text = testing::read_bytes(folder_ / letter);
  const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

}  // namespace monomorph::simulator
