#include <monomorph/core/terminal.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace monomorph {

bool is_terminal(int descriptor) {
  const char* const kind = std::getenv("TERM");
  // Open MPI gives each rank a terminal of its own, and passes on what is written there to a file as well.
  const bool is_of_mpi = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  return ::isatty(descriptor) == 1 && !is_of_mpi && kind != nullptr && std::string_view(kind) != "dumb";
}

std::size_t terminal_width(int descriptor) {
  constexpr std::size_t usual = 80;
  winsize size{};
  const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  return (known ? size.ws_col : usual) - 1;  // a full last column would wrap
}

}  // namespace monomorph
