#pragma once
#include <cstdint>
#include <memory>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph {

/// Copies between two memory spaces, one after the other, beside what the calling thread computes.
class Transfers {
 public:
  /// `late` copies nothing before somebody waits for it, which is as late as a schedule lets it: for tests.
  enum class Timing { at_once, late };
  explicit Transfers(Timing timing);
  Transfers(const Transfers&) = delete;
  ~Transfers();

  /// to = from, of equal dtype and length. Until the copy is done, nobody may write `from` or touch `to`.
  /// @return the copy's number: 1, 2, …
  std::uint64_t start(View from, View to);
  /// Returns when the copies up to this number are done.
  void wait(std::uint64_t number);
  /// Returns when all copies are done.
  void wait_for_all();

 private:
  struct Copies;  // its thread's headers would be read with every recipe
  std::unique_ptr<Copies> copies_;
};

}  // namespace monomorph
