#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <system_error>

namespace monomorph {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t max_bytes = 200;
  std::string result = "\"";
  for (const char character : text.substr(0, max_bytes)) {
    const auto code = static_cast<unsigned char>(character);
    if (code < 0x20 || code == 0x7f) {
      result += fmt::format("\\x{:02x}", code);
    } else if (character == '"' || character == '\\') {
      result += '\\';
      result += character;
    } else {
      result += character;
    }
  }
  return result + (text.size() > max_bytes ? "…\"" : "\"");
}

void throw_file_error(std::string_view doing, const std::string& path, int error_number) {
  const std::string reason = std::generic_category().message(error_number);
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      throw Error("FILE-01", fmt::format("cannot {} {}: {}; check the path", doing, in_quotes(path), reason));
    case ENOSPC:
    case EDQUOT:
      throw Error("FILE-02", fmt::format("cannot {} {}: the disk is full ({}); free some space there and try again",
                                         doing, in_quotes(path), reason));
    case EFBIG:
      throw Error("FILE-06",
                  fmt::format("cannot {} {}: it would be larger than a file may be ({}); raise the limit (ulimit -f), "
                              "or take a file system for larger files",
                              doing, in_quotes(path), reason));
    default:
      throw Error("FILE-03", fmt::format("cannot {} {}: {}", doing, in_quotes(path), reason));
  }
}

void throw_changed_file(const std::string& path) {
  throw Error("DATA-09", fmt::format("{} was changed while it was being read; leave data alone while it is in use and "
                                     "start again",
                                     in_quotes(path)));
}

}  // namespace monomorph
