#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace monomorph::train {

/// What a client is told in the place of an answer, with the fields that OpenAI's API gives an error.
class ApiError : public std::runtime_error {
 public:
  /// @param message becomes one line: what it tells of the request may have line breaks
  /// @param parameter the field of the request that is wrong; empty if none is   @param code for programs; may be empty
  ApiError(int status, const std::string& message, std::string parameter = "", std::string code = "")
      : std::runtime_error(in_one_line(message)),
        status_(status),
        parameter_(std::move(parameter)),
        code_(std::move(code)) {}

  int status() const noexcept { return status_; }
  /// The body of the answer: {"error": {"message", "type", "param", "code"}}.
  std::string json() const;

 private:
  static std::string in_one_line(const std::string& message);

  int status_;
  std::string parameter_, code_;
};

}  // namespace monomorph::train
