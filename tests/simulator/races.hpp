#pragma once
#include "simulator/clock.hpp"
#include "simulator/memory.hpp"

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

 private:
  /// Who has used four bytes last. Operations are told apart by their number on their stream, from 1 on.
  struct Uses {
    std::uint32_t reads[Clock::most_streams];
    std::uint32_t write, writer;
  };
  static constexpr std::size_t unit = 4;
  void access_units(std::size_t offset, std::size_t bytes, bool writes);
  bool is_before(std::size_t other, std::uint32_t number) const { return number <= clock_.of_streams[other]; }
  void note(std::size_t other, std::uint32_t number, std::string_view verb, std::string_view other_verb);
  std::string name_of(std::size_t stream, std::uint32_t number) const;

  const Memory& memory_;
  Uses* uses_;  ///< of all addresses
  bool is_running_ = false;
  std::size_t stream_ = 0;
  std::uint32_t number_ = 0;
  Clock clock_{};
  std::vector<std::string_view> names_[Clock::most_streams];  ///< of operations, by number
  std::vector<std::string> found_;
};

}  // namespace monomorph::simulator
