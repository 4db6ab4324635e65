#pragma once
#include <chrono>
#include <cstdint>
#include <string>

namespace monomorph::tools {

/// "pack   42%  81.3 MB/s  12s left", of at most `width` columns; without a total, what is done instead of a share.
/// @param done_before bytes that an earlier run had done, which say nothing of the speed
std::string progress_line(const std::string& name, std::uint64_t done_bytes, std::uint64_t total_bytes,
                          std::uint64_t done_before, double seconds, std::size_t width);

/// A line that is redrawn in place while a command runs. At anything but a terminal it writes nothing.
class ProgressMeter {
 public:
  ProgressMeter(int descriptor, std::string name);
  ProgressMeter(const ProgressMeter&) = delete;
  ~ProgressMeter() { erase(); }

  /// Redraws if the last time is long enough ago.
  void update(std::uint64_t done_bytes, std::uint64_t total_bytes);
  /// Takes the line away, so that other output can follow.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& text) const;

  int descriptor_;
  std::string name_;
  bool terminal_;
  bool drawn_ = false;
  bool begun_ = false;
  std::uint64_t done_before_ = 0;
  Clock::time_point began_, next_draw_;
};

}  // namespace monomorph::tools
