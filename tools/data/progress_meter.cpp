#include "progress_meter.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/core/terminal.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>

namespace monomorph::tools {
namespace {

constexpr auto redraw_interval = std::chrono::milliseconds(100);
constexpr double shortest_estimate_seconds = 0.5;  // before that, a speed says little

}  // namespace

std::string progress_line(const std::string& name, std::uint64_t done_bytes, std::uint64_t total_bytes,
                          std::uint64_t done_before, double seconds, std::size_t width) {
  std::string line = total_bytes > 0 ? fmt::format("{} {:3}%", name,
                                                   std::min<std::uint64_t>(done_bytes, total_bytes) * 100 / total_bytes)
                                     : fmt::format("{} {}", name, format_bytes(static_cast<std::int64_t>(done_bytes)));
  if (seconds >= shortest_estimate_seconds && done_bytes > done_before) {
    const double bytes_per_second = static_cast<double>(done_bytes - done_before) / seconds;
    line += fmt::format("  {:.1f} MB/s", bytes_per_second / 1e6);
    if (total_bytes > done_bytes) {
      line +=
          fmt::format("  {} left", format_duration(static_cast<double>(total_bytes - done_bytes) / bytes_per_second));
    }
  }
  return line.substr(0, width);
}

ProgressMeter::ProgressMeter(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), terminal_(is_terminal(descriptor)) {}

void ProgressMeter::update(std::uint64_t done_bytes, std::uint64_t total_bytes) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (!begun_) {
    begun_ = true;
    began_ = next_draw_ = now;
    done_before_ = done_bytes;
  }
  if (now < next_draw_) return;
  next_draw_ = now + redraw_interval;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const std::string line =
      progress_line(name_, done_bytes, total_bytes, done_before_, seconds, terminal_width(descriptor_));
  drawn_ = true;
  show(std::string(to_line_begin) + line + std::string(erase_to_line_end));
}

void ProgressMeter::erase() {
  if (drawn_) show(std::string(to_line_begin) + std::string(erase_to_line_end));
  drawn_ = false;
}

/// In one call, so that nothing flickers. A reader that has gone away does not stop the command.
void ProgressMeter::show(const std::string& text) const {
  [[maybe_unused]] const ssize_t n_written = ::write(descriptor_, text.data(), text.size());
}

}  // namespace monomorph::tools
