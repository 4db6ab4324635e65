#include <monomorph/core/process_memory.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string>

namespace monomorph {

std::int64_t status_bytes(std::string_view status, std::string_view key) {
  const std::string line_begin = "\n" + std::string(key) + ":";
  const std::size_t found = ("\n" + std::string(status)).find(line_begin);
  if (found == std::string::npos) return 0;
  std::string_view rest = status.substr(found + line_begin.size() - 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::int64_t kibibytes = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), kibibytes);
  return kibibytes * 1024;
}

namespace {
std::int64_t own_status_bytes(std::string_view key) {
  std::ostringstream status;
  status << std::ifstream("/proc/self/status").rdbuf();
  return status_bytes(status.str(), key);
}
}  // namespace

std::int64_t peak_resident_bytes() { return own_status_bytes("VmHWM"); }
std::int64_t resident_bytes() { return own_status_bytes("VmRSS"); }

}  // namespace monomorph
