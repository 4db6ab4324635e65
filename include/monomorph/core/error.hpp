#pragma once
#include <stdexcept>
#include <string>

namespace monomorph {

/// The exit codes of every program of the project.
enum class ExitCode : int {
  success = 0,
  failure = 1,  ///< something failed while running: disk full, non-finite loss, a corrupt file met half-way
  usage = 2,    ///< the configuration or the command line is wrong; nothing was started
};

/// A failure that a user can cause or cure. `what()` is one line that reads like a rule of the compiler's gate:
/// `[AREA-NN] what must be true (where: file, line, field); what to do`; of a configuration, a line for each mistake
/// (Mistakes). Programs print it by report_failure, without a stack trace.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::failure)
      : std::runtime_error(message), code_(code) {}
  ExitCode code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// An Error of the configuration or the command line: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::usage) {}
};

}  // namespace monomorph
