#include <monomorph/core/standard_streams.hpp>

#include <monomorph/core/file_error.hpp>

#include <cerrno>
#include <cstdio>

namespace monomorph {
namespace {

[[noreturn]] void throw_unwritten() { throw_file_error("write to", "standard output", errno); }

}  // namespace

void write_out(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw_unwritten();
}

void flush_out() {
  if (std::fflush(stdout) != 0) throw_unwritten();
}

void write_error_line(std::string_view line) noexcept {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data());
}

}  // namespace monomorph
