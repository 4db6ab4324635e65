#include <monomorph/core/terminal.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace monomorph {

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

}  // namespace monomorph
