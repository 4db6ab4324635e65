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

/// An amount of what is counted.
std::string amount(std::uint64_t n, std::string_view items) {
  return items.empty() ? format_bytes(static_cast<std::int64_t>(n)) : fmt::format("{} {}", n, items);
}

std::string speed(double per_second, std::string_view items) {
  return items.empty() ? fmt::format("{:.1f} MB/s", per_second / 1e6) : fmt::format("{:.0f} {}/s", per_second, items);
}

}  // namespace

std::string progress_line(const std::string& name, const WorkDone& work, std::size_t width) {
  std::string line = work.total > 0 ? fmt::format("{} {:3}%", name, std::min(work.done, work.total) * 100 / work.total)
                                    : fmt::format("{} {}", name, amount(work.done, work.items));
  if (work.seconds >= shortest_estimate_seconds && work.done > work.before) {
    const double per_second = static_cast<double>(work.done - work.before) / work.seconds;
    line += "  " + speed(per_second, work.items);
    if (work.total > work.done) {
      line += fmt::format("  {} left", format_duration(static_cast<double>(work.total - work.done) / per_second));
    }
  }
  return line.substr(0, width);
}

ProgressMeter::ProgressMeter(int descriptor, std::string name)
    : descriptor_(descriptor), name_(std::move(name)), terminal_(is_terminal(descriptor)) {}

void ProgressMeter::update(std::uint64_t done, std::uint64_t total, const std::string& items) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (!begun_ || items != items_) {
    begun_ = true;
    items_ = items;
    began_ = next_draw_ = now;
    done_before_ = done;
  }
  if (now < next_draw_) return;
  next_draw_ = now + redraw_interval;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  const WorkDone work{done, total, done_before_, seconds, items_};
  drawn_ = true;
  show(std::string(to_line_begin) + progress_line(name_, work, terminal_width(descriptor_)) +
       std::string(erase_to_line_end));
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
