#include "support/process.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <thread>

namespace monomorph::testing {
namespace {

constexpr auto pause_between_looks = std::chrono::milliseconds(2);

/// Between fork and exec: the files become standard output and standard error.
[[noreturn]] void become(const std::vector<std::string>& arguments, const Process::Environment& environment,
                         const std::string& out, const std::string& err) {
  const int input = ::open("/dev/null", O_RDONLY);
  ::dup2(input, STDIN_FILENO);
  ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDOUT_FILENO);
  ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) std::signal(number, SIG_DFL);
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  ::execvp(pointers[0], pointers.data());
  ::_exit(127);
}

}  // namespace

bool wait_until(std::chrono::milliseconds longest, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(pause_between_looks);
  }
  return true;
}

Process::Process(const std::vector<std::string>& arguments, const Environment& environment) : child_(::fork()) {
  if (child_ == 0) become(arguments, environment, folder_ / "out", folder_ / "err");
  if (child_ < 0) throw std::runtime_error("cannot fork");
}

Process::~Process() {
  if (has_ended()) return;
  signal(SIGKILL);
  ::waitpid(child_, &status_, 0);
}

void Process::signal(int number) const { ::kill(child_, number); }

std::string Process::out() const { return read_bytes(folder_ / "out"); }

bool Process::has_ended() {
  if (!ended_) ended_ = ::waitpid(child_, &status_, WNOHANG) == child_;
  return ended_;
}

bool Process::wait_for_output(const std::string& text) {
  const auto found = [&] { return out().find(text) != std::string::npos; };
  wait_until(std::chrono::minutes(1), [&] { return found() || has_ended(); });
  return found();
}

ProcessResult Process::wait(std::chrono::milliseconds longest) {
  ProcessResult result;
  result.timed_out = !wait_until(longest, [&] { return has_ended(); });
  if (result.timed_out) {
    signal(SIGKILL);
    ended_ = ::waitpid(child_, &status_, 0) == child_;
  }
  result.exit_code = WIFSIGNALED(status_) ? 128 + WTERMSIG(status_) : WEXITSTATUS(status_);
  result.out = out();
  result.err = read_bytes(folder_ / "err");
  return result;
}

std::vector<std::string> bash(const std::string& script, const std::vector<std::string>& command) {
  std::vector<std::string> arguments{"bash", "-c", script, "bash"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

}  // namespace monomorph::testing
