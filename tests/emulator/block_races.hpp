#pragma once
#include "emulator/emulator.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace monomorph::emulator {

/// Finds blocks of one launch of which one writes what another one reads or writes, unless both do so atomically: no
/// barrier orders blocks. The emulator runs a block when the one before it has ended, so that of each kind of access
/// to a byte the first block in a launch is enough: if another one has accessed it, it is not the one that runs.
class BlockRaces final : public Onlooker {
 public:
  enum Kind : std::uint8_t { reads, writes, reads_atomically, writes_atomically };
  static constexpr std::size_t n_kinds = 4;

  static BlockRaces& the();

  void launch_begins(dim3 grid) override;
  void block_begins(std::uint64_t number) override { block_ = launch_ + static_cast<std::uint32_t>(number); }
  void block_gets(const void* memory, std::size_t bytes) override;
  void launch_ends() override;

  /// @param code that the access returns to
  template <Kind kind, std::size_t bytes> void access(const volatile void* begin, const void* code) {
    if (is_own(begin)) return;
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    if (at % page_bytes > page_bytes - bytes) return access_range<kind>(at, bytes, code);
    if (access_in<kind>(page_of(at), at % page_bytes, bytes)) note(kind, at, bytes, code);
  }
  template <Kind kind> void access(const void* begin, std::size_t bytes, const void* code) {
    if (!is_own(begin)) access_range<kind>(reinterpret_cast<std::uintptr_t>(begin), bytes, code);
  }
  /// Races at places of the code that were found before are reported anew.
  void forget_places() { found_at_.clear(); }

 private:
  static constexpr std::uintptr_t page_bytes = 4096;
  static constexpr std::size_t n_recent = 1024, most_pages = 1024;
  /// By kind and byte the first block that accesses it so, as a number that no other launch has.
  struct Page {
    std::array<std::array<std::uint32_t, page_bytes>, n_kinds> first{};
  };
  struct Recent {
    std::uintptr_t number = 0;
    Page* page = nullptr;
  };
  struct Race {
    Kind kind, other_kind;
    std::uint32_t block, other;
    std::uintptr_t at;
    const void* code;
    std::vector<void*> calls;
  };

  /// What the host does, and what a thread does on its stack.
  static bool is_own(const volatile void* begin) {
    const auto* const at = static_cast<const volatile std::byte*>(begin);
    return stack_of_thread == nullptr || static_cast<std::size_t>(at - stack_of_thread) < stack_bytes;
  }
  static constexpr bool are_race(Kind a, Kind b) {
    const bool a_writes = a % 2 == 1, b_writes = b % 2 == 1,
               are_atomic = a >= reads_atomically && b >= reads_atomically;
    return (a_writes || b_writes) && !are_atomic;
  }
  bool is_of_other(std::uint32_t first) const { return first >= launch_ && first != block_; }

  /// @return whether there is a race
  template <Kind kind> bool access_in(Page& page, std::size_t from, std::size_t bytes) {
    bool races = false;
    const auto look_at = [&]<Kind other>() {
      if constexpr (are_race(kind, other))
        for (std::size_t i = from; i < from + bytes; ++i) races |= is_of_other(page.first[other][i]);
    };
    look_at.template operator()<reads>();
    look_at.template operator()<writes>();
    look_at.template operator()<reads_atomically>();
    look_at.template operator()<writes_atomically>();
    for (std::size_t i = from; i < from + bytes; ++i) {
      std::uint32_t& first = page.first[kind][i];
      first = first < launch_ ? block_ : first;
    }
    return races;
  }
  template <Kind kind> void access_range(std::uintptr_t at, std::size_t bytes, const void* code) {
    while (bytes > 0) {
      const std::size_t n = std::min<std::size_t>(bytes, page_bytes - at % page_bytes);
      if (access_in<kind>(page_of(at), at % page_bytes, n)) note(kind, at, n, code);
      at += n, bytes -= n;
    }
  }
  Page& page_of(std::uintptr_t at) {
    const std::uintptr_t number = at / page_bytes;
    Recent& recent = recent_[number % n_recent];
    if (recent.number != number) recent = {number, &find_page(number)};
    return *recent.page;
  }
  Page& find_page(std::uintptr_t number);
  void note(Kind kind, std::uintptr_t at, std::size_t bytes, const void* code);
  std::string text_of(const Race& race) const;

  std::uint32_t launch_ = 1, end_of_launch_ = 1, block_ = 1;  ///< numbers of its first block, behind its last one
  std::unordered_map<std::uintptr_t, Page*> pages_;
  std::vector<std::unique_ptr<Page>> all_pages_;
  std::vector<Page*> unused_pages_;
  std::array<Recent, n_recent> recent_{};
  std::vector<Race> races_;
  std::set<std::pair<const void*, Kind>> found_at_;
};

// Each program whose kernels report their accesses says once what it makes of that.

/// An access to any memory, by a kernel or by the host's code beside it.
void observed(const void* begin, std::size_t bytes, bool writes);
/// @param text of the race, without where `address` lies
void found_race(const std::string& text, const void* address);

}  // namespace monomorph::emulator
