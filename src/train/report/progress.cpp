#include <monomorph/core/terminal.hpp>
#include <monomorph/train/report/progress.hpp>

#include <unistd.h>

#include <string>

namespace monomorph::train {
namespace {

constexpr auto shortest_redraw = std::chrono::milliseconds(50);  // more often than that nobody reads

}  // namespace

Progress::Progress(int descriptor, std::int64_t log_every)
    : descriptor_(descriptor), log_every_(log_every), terminal_(is_terminal(descriptor)) {}

Progress::~Progress() { finish(); }

/// In one call, so that nothing flickers. A reader that has gone away does not stop the training.
void Progress::show(const std::string& text) {
  [[maybe_unused]] const ssize_t n_written = ::write(descriptor_, text.data(), text.size());
}

void Progress::step(const StepReport& report) {
  const bool is_last = report.step == report.total_steps;
  if (!terminal_) {
    if (report.step == 1 || is_last || report.step % log_every_ == 0) show(log_line(report) + "\n");
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (line_open_ && !is_last && now - drawn_ < shortest_redraw) return;
  drawn_ = now;
  line_open_ = true;
  std::string text(to_line_begin);
  text += live_line(report, terminal_width(descriptor_));
  text += erase_to_line_end;
  show(text);
}

void Progress::note(std::string_view line) {
  std::string text;
  if (line_open_) {
    text += to_line_begin;
    text += erase_to_line_end;
  }
  line_open_ = false;
  text += line;
  show(text + "\n");
}

void Progress::finish() {
  if (line_open_) show("\n");
  line_open_ = false;
}

}  // namespace monomorph::train
