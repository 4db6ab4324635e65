#include <monomorph/core/standard_streams.hpp>

#include <monomorph/core/file_error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace monomorph {
namespace {

[[noreturn]] void throw_unwritten() { throw_file_error("write to", "standard output", errno); }

}  // namespace

/// Past stdio, which forgets what is in its buffer when a signal interrupts the write (glibc), so that nothing could go
/// on from there.
void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n >= 0)
      text.remove_prefix(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      throw_unwritten();
  }
}

void flush_out() {
  if (std::fflush(stdout) != 0) throw_unwritten();
}

void write_error_line(std::string_view line) noexcept {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace monomorph
