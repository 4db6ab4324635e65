#pragma once
#include "simulator/clock.hpp"
#include "simulator/memory.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::simulator {

/// Finds operations of two streams that use the same memory, one of them to write it, with no event and no wait of the
/// host between them. It compares clocks, so that one schedule shows the races of all.
class Races {
 public:
  explicit Races(const Memory& memory);

  /// What is accessed up to end() is an operation's.
  void begin(std::size_t stream, const Clock& clock, std::string_view what);
  void end() { is_running_ = false; }
  void access(const void* begin, std::size_t bytes, bool writes) {
    if (is_running_ && memory_.has(begin)) access_units(memory_.offset_of(begin), bytes, writes);
  }
  /// Memory that is freed, whose addresses nobody uses again.
  void forget(const void* begin, std::size_t bytes);
  /// In words, by pair of operations: those that were found since this was called before.
  std::vector<std::string> take();
  /// One that was found elsewhere.
  void add(std::string line);

 private:
  /// An operation in four bytes: its number on its stream, from 1 on, and the stream in the lowest three bits.
  using Operation = std::uint32_t;
  static constexpr int stream_bits = 3;
  static_assert(Clock::most_streams <= 1 << stream_bits);
  /// Who has used four bytes last. Of several that read, one is enough as long as each knows of those before it: who
  /// comes after the last comes after all (Flanagan and Freund 2009, "FastTrack", section 3). Where two read that do
  /// not know of each other, `read` has the highest bit, and is a place in concurrent_reads_.
  struct Uses {
    Operation read, write;
  };
  using Reads = std::array<std::uint32_t, Clock::most_streams>;  ///< by stream, the number of the last that reads
  static constexpr std::uint32_t are_concurrent = std::uint32_t{1} << 31;
  static constexpr std::size_t unit = 4;
  /// Of 64 KiB. As long as operations use all of it at once, as where much memory is filled, one note stands for those
  /// of its units: they would take twice the memory that is filled, in each process that plays a GPU.
  struct Block {
    Uses of_all{};
    bool is_split = false;
  };
  static constexpr std::size_t units_of_block = std::size_t{1} << 14, n_blocks = Memory::space / unit / units_of_block;
  void access_units(std::size_t offset, std::size_t bytes, bool writes);
  /// Whether nothing is left to do for single units of the block.
  bool access_as_whole(Block& block, bool writes);
  void split(std::size_t block);
  void access(Uses& uses, bool writes);
  void read(Uses& uses);
  void write(Uses& uses);
  Reads& concurrent_reads_of(Uses& uses);
  static std::size_t stream_of(Operation operation) { return operation % (1U << stream_bits); }
  static std::uint32_t number_of(Operation operation) { return operation >> stream_bits; }
  bool is_before(Operation operation) const { return is_before(stream_of(operation), number_of(operation)); }
  bool is_before(std::size_t other, std::uint32_t number) const { return number <= clock_.of_streams[other]; }
  void note(std::size_t other, std::uint32_t number, std::string_view verb, std::string_view other_verb);
  std::string name_of(std::size_t stream, std::uint32_t number) const;

  const Memory& memory_;
  Uses* uses_;  ///< of all addresses, where they say more than those of their block
  std::vector<Block> blocks_{n_blocks};
  std::vector<Reads> concurrent_reads_;
  std::vector<std::uint32_t> unused_reads_;  ///< places in concurrent_reads_
  bool is_running_ = false;
  std::size_t stream_ = 0;
  std::uint32_t number_ = 0;
  Operation running_ = 0;  ///< both
  Clock clock_{};
  std::vector<std::string_view> names_[Clock::most_streams];  ///< of operations, by number
  std::vector<std::string> found_;
};

}  // namespace monomorph::simulator
