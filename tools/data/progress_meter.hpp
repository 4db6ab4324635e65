#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace monomorph::tools {

/// How far a command is.
struct WorkDone {
  std::uint64_t done, total;  ///< the total is 0 if it is not known
  std::uint64_t before = 0;   ///< done by an earlier run, which says nothing of the speed
  double seconds = 0;
  std::string_view items{};  ///< what is counted; bytes if empty
};

/// "pack   42%  81.3 MB/s  12s left", of at most `width` columns; without a total, what is done instead of a share.
std::string progress_line(const std::string& name, const WorkDone& work, std::size_t width);

/// A line that is redrawn in place while a command runs. At anything but a terminal it writes nothing.
class ProgressMeter {
 public:
  ProgressMeter(int descriptor, std::string name);
  ProgressMeter(const ProgressMeter&) = delete;
  ~ProgressMeter() { erase(); }

  /// Redraws if the last time is long enough ago. What counts other items than before begins anew.
  void update(std::uint64_t done, std::uint64_t total, const std::string& items = "");
  /// Takes the line away, so that other output can follow.
  void erase();

 private:
  using Clock = std::chrono::steady_clock;
  void show(const std::string& text) const;

  int descriptor_;
  std::string name_, items_;
  bool terminal_;
  bool drawn_ = false;
  bool begun_ = false;
  std::uint64_t done_before_ = 0;
  Clock::time_point began_, next_draw_;
};

}  // namespace monomorph::tools
