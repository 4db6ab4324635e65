#include <monomorph/train/commands/local_ranks.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/comm/rendezvous_server.hpp>

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX declares it nowhere

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds time_to_end{30};
constexpr const char* parent_variable = "MONOMORPH_LOCAL_RANKS_PARENT";

std::vector<std::string> arguments_without_ranks(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--ranks")
      ++i;
    else if (!argument.starts_with("--ranks="))
      arguments.emplace_back(argument);
  }
  return arguments;
}

std::vector<std::string> environment_of(int rank, int n, int port) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  variables.emplace("OMP_NUM_THREADS", std::to_string(std::max(1, cores / n)));
  for (const char* const variable : {"RANK", "LOCAL_RANK"}) variables[variable] = std::to_string(rank);
  for (const char* const variable : {"WORLD_SIZE", "LOCAL_WORLD_SIZE"}) variables[variable] = std::to_string(n);
  variables["MASTER_ADDR"] = "127.0.0.1";
  variables["MASTER_PORT"] = std::to_string(port);
  variables[parent_variable] = std::to_string(::getpid());
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";  // this process serves the rendezvous
  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

/// The ranks' processes, in a process group of their own, so that an interrupt from the terminal reaches them only
/// once: this process forwards it.
class Ranks {
 public:
  Ranks(int n, int port, std::vector<std::string> arguments) {
    for (int rank = 0; rank < n; ++rank) start(rank, environment_of(rank, n, port), arguments);
  }
  bool any() const { return !processes_.empty(); }
  void signal(int number) const {
    for (const auto& [process, rank] : processes_) ::kill(process, number);
  }
  /// Collects the exit status of processes that have ended.
  /// @return that of the first one that failed
  std::optional<int> reap() {
    std::optional<int> failed;
    int status = 0;
    for (pid_t process = 0; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = processes_.find(process);
      if (found == processes_.end()) continue;
      if (WIFSIGNALED(status))
        write_error_line(fmt::format("rank {} was ended by signal {}", found->second, WTERMSIG(status)));
      const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
      if (code != 0 && !failed) failed = code;
      processes_.erase(found);
    }
    return failed;
  }

 private:
  void start(int rank, std::vector<std::string> environment, std::vector<std::string>& arguments) {
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, group_);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    pid_t process = 0;
    const int failure = ::posix_spawn(&process, "/proc/self/exe", nullptr, &attributes, pointers(arguments).data(),
                                      pointers(environment).data());
    posix_spawnattr_destroy(&attributes);
    if (failure != 0) {
      signal(SIGKILL);
      throw Error("RANK-07", fmt::format("rank {} can't be started: {}; lower --ranks, or raise the limit (ulimit -u)",
                                         rank, std::generic_category().message(failure)));
    }
    if (group_ == 0) group_ = process;
    processes_[process] = rank;
  }

  std::map<pid_t, int> processes_;
  pid_t group_ = 0;  ///< 0 until the first process has created it
};

sigset_t awaited_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

void end_with_parent() {
  const char* const parent = std::getenv(parent_variable);
  if (parent == nullptr) return;
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(::getppid()) != parent) ::raise(SIGTERM);  // the parent ended before prctl was called
}

int run_local_ranks(int n, int argc, char** argv) {
  const sigset_t awaited = awaited_signals();
  pthread_sigmask(SIG_BLOCK, &awaited, nullptr);  // before there are other threads
  const RendezvousServer rendezvous_server(n);
  Ranks ranks(n, rendezvous_server.port(), arguments_without_ranks(argc, argv));
  std::optional<int> failed;
  Clock::time_point deadline = Clock::time_point::max();
  while (ranks.any()) {
    const timespec second{1, 0};
    const int number = sigtimedwait(&awaited, nullptr, &second);
    if (number > 0 && number != SIGCHLD) ranks.signal(number);
    if (const auto code = ranks.reap(); code && !failed) {
      failed = code;
      deadline = Clock::now() + time_to_end;
    }
    if (Clock::now() > deadline) ranks.signal(SIGKILL);
  }
  return failed.value_or(0);
}

}  // namespace monomorph::train
