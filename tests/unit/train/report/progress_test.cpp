#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/train/report/progress.hpp>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

StepReport full_report() {
  StepReport report;
  report.step = 120;
  report.total_steps = 1000;
  report.loss = 3.21456;
  report.lr = 3e-4;
  report.grad_norm = 0.8712;
  report.tokens_per_second = 12345.0;
  report.mfu = 0.4123;
  report.mfu_palm = 0.4567;
  report.mfu_6n = 0.4321;
  report.hfu = 0.5123;
  report.roof_fraction = 0.6123;
  report.work_seconds = WorkSeconds{.products = 0.5, .attention = 0.25, .loss = 0.1, .other = 0.15};
  report.peak_memory_bytes = 1'717'986'918;
  report.data_wait_fraction = 0.0034;
  report.seconds_left = 200.4;
  report.skipped = 0;
  return report;
}

/// A terminal of the given width: what is written to `side` is read back by text().
class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short columns) : controller_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    REQUIRE(controller_ >= 0);
    REQUIRE((::grantpt(controller_) == 0 && ::unlockpt(controller_) == 0));
    side_ = ::open(::ptsname(controller_), O_RDWR | O_NOCTTY);
    REQUIRE(side_ >= 0);
    winsize size{};
    size.ws_row = 24;
    size.ws_col = columns;
    REQUIRE(::ioctl(side_, TIOCSWINSZ, &size) == 0);
    ::setenv("TERM", "xterm", 1);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  ~PseudoTerminal() {
    ::close(side_);
    ::close(controller_);
  }
  int side() const { return side_; }
  /// All that was written so far.
  std::string text() const {
    ::fcntl(controller_, F_SETFL, O_NONBLOCK);
    std::string text;
    std::array<char, 4096> chunk;
    for (ssize_t n_read = 0; (n_read = ::read(controller_, chunk.data(), chunk.size())) > 0;) {
      text.append(chunk.data(), static_cast<std::size_t>(n_read));
    }
    return text;
  }

 private:
  int controller_;
  int side_ = -1;
};

std::string shown_in_file(const std::string& path, void (*show)(Progress&)) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  {
    Progress progress(descriptor, 10);
    show(progress);
  }
  ::close(descriptor);
  return read_bytes(path);
}

}  // namespace

TEST_CASE("the live line has everything when there is room") {
  CHECK(live_line(full_report(), 200) ==
        "step 120/1000  12%  loss 3.2146  lr 3.00e-04  grad 0.871  12.3k tok/s  MFU 41.2%  roof 61.2%  1.60 GiB  data "
        "wait 0.3%  products 50% attention 25% other 15%  3m 20s left");
}

TEST_CASE("the live line fits every width and keeps what matters most") {
  const StepReport report = full_report();
  for (std::size_t width = 0; width < 140; ++width) {
    const std::string line = live_line(report, width);
    CHECK(line.size() <= width);
    if (width >= 18) CHECK(contains(line, "step 120/1000  12%"));
    if (width >= 31) CHECK(contains(line, "loss 3.2146"));
    if (width >= 44) CHECK(contains(line, "3m 20s left"));
  }
  CHECK(live_line(report, 80) == "step 120/1000  12%  loss 3.2146  lr 3.00e-04  12.3k tok/s  3m 20s left");
}

TEST_CASE("what is not known is not in the live line, and skipped steps are once there are any") {
  StepReport report = full_report();
  report.grad_norm.reset();
  report.mfu.reset();
  report.roof_fraction.reset();
  report.work_seconds.reset();
  report.seconds_left.reset();
  report.skipped = 2;
  report.loss = std::numeric_limits<double>::quiet_NaN();
  const std::string line = live_line(report, 200);
  CHECK_FALSE(contains(line, "grad"));
  CHECK_FALSE(contains(line, "MFU"));
  CHECK_FALSE(contains(line, "roof"));
  CHECK_FALSE(contains(line, "products"));
  CHECK_FALSE(contains(line, "left"));
  CHECK(contains(line, "2 skipped"));
  CHECK(contains(line, "loss nan"));
  CHECK(live_line(StepReport{}, 20).starts_with("step 0/0"));
}

TEST_CASE("the line of a log is aligned keys and values") {
  const std::string line = log_line(full_report());
  CHECK(line ==
        "step  120/1000  loss 3.2146    lr 3.000e-04  grad_norm 0.8712     tokens/s 12345      mfu 0.4123  mfu_palm "
        "0.4567  mfu_6n 0.4321  hfu 0.5123  roof 0.6123  "
        "peak_memory_mib 1638     data_wait 0.0034  seconds_left 200      skipped 0  work products 50% attention 25% "
        "other 15%");
  StepReport first;
  first.step = 1;
  first.total_steps = 1000;
  first.loss = 10.8;
  const std::string first_line = log_line(first);
  for (const std::string key : {"loss ", "lr ", "grad_norm ", "tokens/s ", "mfu ", "mfu_palm ", "mfu_6n ", "hfu ",
                                "roof ", "peak_memory_mib ", "data_wait ", "seconds_left ", "skipped "}) {
    CHECK(first_line.find(" " + key) == line.find(" " + key));
  }
  CHECK(contains(first_line, "grad_norm - "));
  CHECK(first_line.ends_with("  work -"));
}

TEST_CASE("durations, bytes and counts for people") {
  CHECK(format_duration(0.4) == "0s");
  CHECK(format_duration(59.6) == "1m 00s");
  CHECK(format_duration(200) == "3m 20s");
  CHECK(format_duration(3720) == "1h 02m");
  CHECK(format_duration(183'600) == "2d 03h");
  CHECK(format_duration(-5) == "0s");
  CHECK(format_duration(std::numeric_limits<double>::infinity()) == "?");
  CHECK(format_duration(1e300) == "11574d 01h");
  CHECK(format_bytes(0) == "0 B");
  CHECK(format_bytes(999) == "999 B");
  CHECK(format_bytes(1023) == "1.00 KiB");
  CHECK(format_bytes(91'226'112) == "87.0 MiB");
  CHECK(format_bytes(1'717'986'918) == "1.60 GiB");
  CHECK(format_bytes(85'899'345'920) == "80.0 GiB");
  CHECK(format_count(950) == "950");
  CHECK(format_count(999.7) == "1.00k");
  CHECK(format_count(12'345) == "12.3k");
  CHECK(format_count(99'960) == "100k");
  CHECK(format_count(4.6e6) == "4.60M");
}

TEST_CASE("without a terminal: plain lines, one per interval, the first and the last") {
  const TemporaryFolder folder;
  const std::string text = shown_in_file(folder / "log", [](Progress& progress) {
    StepReport report = full_report();
    report.total_steps = 25;
    for (report.step = 1; report.step <= 25; ++report.step) progress.step(report);
    progress.note("evaluation loss 2.5");
    progress.finish();
  });
  CHECK_FALSE(contains(text, "\r"));
  CHECK_FALSE(contains(text, "\x1b"));
  std::istringstream lines(text);
  std::vector<std::string> begins;
  for (std::string line; std::getline(lines, line);) begins.push_back(line.substr(0, 10));
  CHECK(begins == std::vector<std::string>{"step  1/25", "step 10/25", "step 20/25", "step 25/25", "evaluation"});
}

TEST_CASE("at a terminal: one line, redrawn in place, no wider than the terminal, ended once") {
  const PseudoTerminal terminal(50);
  {
    Progress progress(terminal.side(), 10);
    StepReport report = full_report();
    report.step = 1;
    progress.step(report);
    progress.note("evaluation loss 2.5");
    report.step = 1000;
    progress.step(report);
    progress.finish();
    progress.finish();
  }
  const std::string text = terminal.text();
  CHECK(std::ranges::count(text, '\n') == 2);
  const std::string first = "\r" + live_line(
                                       [] {
                                         auto report = full_report();
                                         report.step = 1;
                                         return report;
                                       }(),
                                       49);
  CHECK(text.starts_with(first + "\x1b[K\r\x1b[Kevaluation loss 2.5\r\n\rstep 1000/1000 100%"));
  CHECK(text.ends_with("left\x1b[K\r\n"));
}

TEST_CASE("at a terminal the line is not redrawn faster than anyone reads, but the last step is shown") {
  const PseudoTerminal terminal(120);
  Progress progress(terminal.side(), 10);
  StepReport report = full_report();
  report.total_steps = 2000;
  for (report.step = 1; report.step <= 2000; ++report.step) progress.step(report);
  progress.finish();
  const std::string text = terminal.text();
  CHECK(contains(text, "step 1/2000"));
  CHECK(contains(text, "step 2000/2000"));
  CHECK(std::ranges::count(text, '\x1b') < 1000);
}

TEST_CASE("a dumb terminal gets plain lines") {
  const PseudoTerminal terminal(80);
  ::setenv("TERM", "dumb", 1);
  Progress progress(terminal.side(), 10);
  progress.step([] {
    auto report = full_report();
    report.step = 1;
    return report;
  }());
  CHECK(terminal.text().starts_with("step    1/1000  loss"));
}

TEST_CASE("progress that cannot be shown stops nothing") {
  Progress closed(-1, 1);
  CHECK_NOTHROW(closed.step(full_report()));
  CHECK_NOTHROW(closed.note("x"));
  const int full = ::open("/dev/full", O_WRONLY);
  REQUIRE(full >= 0);
  Progress progress(full, 1);
  CHECK_NOTHROW(progress.step(full_report()));
  ::close(full);
}
