#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace monomorph::train {

/// What a client is told in the place of an answer, with the fields that OpenAI's API gives an error.
class ApiError : public std::runtime_error {
 public:
  /// @param parameter the field of the request that is wrong; empty if none is   @param code for programs; may be empty
  ApiError(int status, const std::string& message, std::string parameter = "", std::string code = "")
      : std::runtime_error(message), status_(status), parameter_(std::move(parameter)), code_(std::move(code)) {}

  int status() const noexcept { return status_; }
  /// The body of the answer: {"error": {"message", "type", "param", "code"}}.
  std::string json() const;

 private:
  int status_;
  std::string parameter_, code_;
};

}  // namespace monomorph::train
