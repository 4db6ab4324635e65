#pragma once
#include <monomorph/core/error_id.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace monomorph {

/// The exit codes of every program of the project.
enum class ExitCode : int {
  success = 0,
  failure = 1,  ///< something failed while running: disk full, non-finite loss, a corrupt file met half-way
  usage = 2,    ///< the configuration or the command line is wrong; nothing was started
};

/// A failure that a user can cause or cure. `what()` is one line that reads like a rule of the compiler's gate:
/// `[AREA-NN] what must be true (where: file, line, field); what to do`; of a configuration, a line for each mistake
/// (Mistakes). Programs print it by report_failure, without a stack trace. Code that tells errors apart asks for their
/// id and never reads the text.
class Error : public std::runtime_error {
 public:
  /// @param text what follows the id
  Error(ErrorId id, std::string_view text, ExitCode code = ExitCode::failure);
  /// Of several mistakes, that of the first.
  ErrorId id() const noexcept { return id_; }
  /// what() without the id that it begins with: to say the same with more behind it.
  std::string_view text() const noexcept;
  ExitCode code() const noexcept { return code_; }

 private:
  ErrorId id_;
  ExitCode code_;
};

/// An Error of the configuration or the command line: exit code 2.
class UsageError : public Error {
 public:
  UsageError(ErrorId id, std::string_view text);
};

}  // namespace monomorph
