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
  madvise(uses, Memory::space / unit * sizeof(Uses), MADV_HUGEPAGE);  // page by page, each is first read, then written
  uses_ = static_cast<Uses*>(uses);
}

void Races::begin(std::size_t stream, const Clock& clock, std::string_view what) {
  is_running_ = true;
  stream_ = stream;
  clock_ = clock;
  number_ = clock.of_streams[stream];
  running_ = number_ << stream_bits | static_cast<Operation>(stream);
  names_[stream].resize(number_ + 1);
  names_[stream][number_] = what;
}

void Races::access_units(std::size_t offset, std::size_t bytes, bool writes) {
  const std::size_t end = (offset + bytes + unit - 1) / unit;
  for (std::size_t first = offset / unit; first < end;) {
    const std::size_t block = first / units_of_block, end_of_block = (block + 1) * units_of_block;
    const bool is_whole = first % units_of_block == 0 && end_of_block <= end;
    if (!is_whole || !access_as_whole(blocks_[block], writes)) {
      split(block);
      for (std::size_t i = first; i < std::min(end, end_of_block); ++i) access(uses_[i], writes);
    }
    first = end_of_block;
  }
}

/// What two operations read without knowing of each other is noted by the unit, as `read` then is a place.
bool Races::access_as_whole(Block& block, bool writes) {
  if (block.is_split || (!writes && !is_before(block.of_all.read))) return false;
  access(block.of_all, writes);
  return true;
}

void Races::split(std::size_t block) {
  auto& [of_all, is_split] = blocks_[block];
  if (is_split) return;
  is_split = true;
  if (of_all.read != 0 || of_all.write != 0) std::fill_n(uses_ + block * units_of_block, units_of_block, of_all);
}

void Races::access(Uses& uses, bool writes) {
  if (writes ? uses.write == running_ : uses.read == running_) return;
  if (!is_before(uses.write)) note(stream_of(uses.write), number_of(uses.write), writes ? "writes" : "reads", "writes");
  writes ? write(uses) : read(uses);
}

void Races::read(Uses& uses) {
  const bool are_several = (uses.read & are_concurrent) != 0;
  if (!are_several && is_before(uses.read))
    uses.read = running_;
  else
    concurrent_reads_of(uses)[stream_] = number_;
}

Races::Reads& Races::concurrent_reads_of(Uses& uses) {
  if ((uses.read & are_concurrent) == 0) {
    if (unused_reads_.empty()) {
      unused_reads_.push_back(static_cast<std::uint32_t>(concurrent_reads_.size()));
      concurrent_reads_.emplace_back();
    }
    const std::uint32_t place = unused_reads_.back();
    unused_reads_.pop_back();
    concurrent_reads_[place] = {};
    concurrent_reads_[place][stream_of(uses.read)] = number_of(uses.read);
    uses.read = place | are_concurrent;
  }
  return concurrent_reads_[uses.read & ~are_concurrent];
}

void Races::write(Uses& uses) {
  if ((uses.read & are_concurrent) != 0) {
    const Reads& reads = concurrent_reads_of(uses);
    for (std::size_t other = 0; other < reads.size(); ++other)
      if (!is_before(other, reads[other])) note(other, reads[other], "writes", "reads");
    unused_reads_.push_back(uses.read & ~are_concurrent);
  } else if (!is_before(uses.read)) {
    note(stream_of(uses.read), number_of(uses.read), "writes", "reads");
  }
  uses = {.read = 0, .write = running_};
}

void Races::note(std::size_t other, std::uint32_t number, std::string_view verb, std::string_view other_verb) {
  std::string line = name_of(stream_, number_);
  line.append(" ").append(verb).append(" what ").append(name_of(other, number));
  line.append(" ").append(other_verb).append(", and neither waits for the other");
  add(std::move(line));
}

void Races::add(std::string line) {
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
