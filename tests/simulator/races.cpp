#include "simulator/races.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <cstdlib>
#include <utility>

namespace monomorph::simulator {

/// The system gives memory for those addresses alone that are used.
Races::Races(const Memory& memory) : memory_(memory) {
  void* const uses = mmap(nullptr, Memory::space / unit * sizeof(Uses), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (uses == MAP_FAILED) std::abort();
  uses_ = static_cast<Uses*>(uses);
}

void Races::begin(std::size_t stream, const Clock& clock, std::string_view what) {
  is_running_ = true;
  stream_ = stream;
  clock_ = clock;
  number_ = clock.of_streams[stream];
  names_[stream].resize(number_ + 1);
  names_[stream][number_] = what;
}

void Races::access_units(std::size_t offset, std::size_t bytes, bool writes) {
  for (std::size_t i = offset / unit; i < (offset + bytes + unit - 1) / unit; ++i) {
    Uses& uses = uses_[i];
    if (writes ? uses.write == number_ && uses.writer == stream_ : uses.reads[stream_] == number_) continue;
    if (!is_before(uses.writer, uses.write)) note(uses.writer, uses.write, writes ? "writes" : "reads", "writes");
    if (!writes) {
      uses.reads[stream_] = number_;
      continue;
    }
    for (std::size_t other = 0; other < Clock::most_streams; ++other) {
      const std::uint32_t number = std::exchange(uses.reads[other], 0);
      if (!is_before(other, number)) note(other, number, "writes", "reads");
    }
    uses.write = number_;
    uses.writer = static_cast<std::uint32_t>(stream_);
  }
}

void Races::note(std::size_t other, std::uint32_t number, std::string_view verb, std::string_view other_verb) {
  std::string line = name_of(stream_, number_);
  line.append(" ").append(verb).append(" what ").append(name_of(other, number));
  line.append(" ").append(other_verb).append(", and neither waits for the other");
  if (std::ranges::find(found_, line) == found_.end()) found_.push_back(std::move(line));
}

std::string Races::name_of(std::size_t stream, std::uint32_t number) const {
  return std::string(names_[stream][number]) + " " + std::to_string(number) + " of stream " + std::to_string(stream);
}

void Races::forget(const void* begin, std::size_t bytes) {
  constexpr std::uintptr_t page = 4096;
  const auto first = reinterpret_cast<std::uintptr_t>(uses_ + memory_.offset_of(begin) / unit);
  const auto end = reinterpret_cast<std::uintptr_t>(uses_ + (memory_.offset_of(begin) + bytes) / unit);
  const std::uintptr_t pages = (first + page - 1) / page * page;
  if (pages < end) madvise(reinterpret_cast<void*>(pages), end / page * page - pages, MADV_DONTNEED);
}

std::vector<std::string> Races::take() { return std::exchange(found_, {}); }

}  // namespace monomorph::simulator
