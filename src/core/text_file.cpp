#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace monomorph {
namespace {

std::string read_descriptor(int descriptor, const std::string& path, std::size_t max_bytes) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_file_error("read", path, errno);
  if (S_ISDIR(status.st_mode)) throw Error("FILE-04", in_quotes(path) + " is a folder; give a file");
  std::string text;
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t n_read = ::read(descriptor, chunk.data(), chunk.size());
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) throw_file_error("read", path, errno);
    if (n_read == 0) return text;
    if (text.size() + static_cast<std::size_t>(n_read) > max_bytes) {
      throw Error("FILE-05", fmt::format("{} holds more than the {} bytes that a file of its kind may have; is it the "
                                         "right file?",
                                         in_quotes(path), max_bytes));
    }
    text.append(chunk.data(), static_cast<std::size_t>(n_read));
  }
}

}  // namespace

std::string read_text_file(const std::string& path, std::size_t max_bytes) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_file_error("open", path, errno);
  try {
    std::string text = read_descriptor(descriptor, path, max_bytes);
    ::close(descriptor);
    return text;
  } catch (...) {
    ::close(descriptor);
    throw;
  }
}

}  // namespace monomorph
