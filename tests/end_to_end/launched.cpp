#include "launched.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <sstream>
#include <thread>

namespace monomorph::testing {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark = "MONOMORPH_TEST_LAUNCH";

/// The variables of a process' environment; none if it is another user's, or has ended.
std::vector<std::string> variables_of(const fs::path& process) {
  std::vector<std::string> variables;
  std::istringstream text(read_bytes((process / "environ").string()));
  for (std::string variable; std::getline(text, variable, '\0');) variables.push_back(variable);
  return variables;
}

}  // namespace

Process::Environment Launched::environment() const { return {{mark, folder_.path()}, {"OMP_NUM_THREADS", "1"}}; }

std::vector<pid_t> Launched::with(const std::vector<std::string>& lines) const {
  std::vector<std::string> wanted = lines;
  wanted.push_back(std::string(mark) + "=" + folder_.path());
  std::vector<pid_t> found;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ec != std::errc()) continue;
    const std::vector<std::string> variables = variables_of(entry.path());
    if (std::ranges::all_of(wanted, [&](const std::string& line) { return std::ranges::count(variables, line) > 0; }))
      found.push_back(process);
  }
  return found;
}

std::vector<pid_t> Launched::wait_for(std::size_t n, const std::vector<std::string>& lines) const {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::vector<pid_t> found = with(lines);
  while (found.size() < n && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    found = with(lines);
  }
  return found;
}

Launched::~Launched() {
  for (int round = 0; round < 100; ++round) {  // one that is being killed may just have started another
    const std::vector<pid_t> left = with({});
    if (left.empty()) return;
    for (const pid_t process : left) ::kill(process, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::optional<std::string> find_program(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path candidate = fs::path(folder) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
  }
  return std::nullopt;
}

}  // namespace monomorph::testing
