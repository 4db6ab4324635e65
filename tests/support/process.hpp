#pragma once
#include "support/temporary_folder.hpp"

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::testing {

/// How a program ended, and what it wrote.
struct ProcessResult {
  int exit_code = -1;  ///< as a shell gives it: 128 + n for signal n
  bool timed_out = false;
  std::string out, err;
};

/// Looks again every few milliseconds.   @return whether the condition was met in time
bool wait_until(std::chrono::milliseconds longest, const std::function<bool()>& condition);

/// A child process whose output goes into files, so that it never waits for a reader.
class Process {
 public:
  using Environment = std::vector<std::pair<std::string, std::string>>;

  /// @param arguments the program first   @param environment set in addition to ours
  explicit Process(const std::vector<std::string>& arguments, const Environment& environment = {});
  Process(const Process&) = delete;
  ~Process();  ///< kills what is still running

  void signal(int number) const;
  std::string out() const;  ///< so far
  /// Waits for a text on standard output; false when the program ends without it, or after a minute.
  bool wait_for_output(const std::string& text);
  /// Kills the program if it is not done in time.
  ProcessResult wait(std::chrono::milliseconds longest = std::chrono::minutes(2));

 private:
  bool has_ended();

  TemporaryFolder folder_;
  pid_t child_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

inline ProcessResult run_process(const std::vector<std::string>& arguments,
                                 const Process::Environment& environment = {}) {
  return Process(arguments, environment).wait();
}

/// The command line of a script of bash, whose "$@" is another command line: no name in that needs quotes.
std::vector<std::string> bash(const std::string& script, const std::vector<std::string>& command);

}  // namespace monomorph::testing
