#include <monomorph/train/progress.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace monomorph::train {
namespace {

constexpr std::string_view to_line_begin = "\r";
constexpr std::string_view erase_to_line_end = "\x1b[K";
constexpr auto shortest_redraw = std::chrono::milliseconds(50);  // more often than that nobody reads

bool is_terminal(int descriptor) {
  const char* const kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : usual) - 1;  // a full last column would wrap
}

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
