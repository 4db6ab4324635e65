#pragma once
#include <monomorph/core/error.hpp>

#include <string>

namespace monomorph::testing {

/// The message of the monomorph::Error that `action` throws; a text that no test expects if it throws none, or if the
/// message has more than one line.
template <class Action> std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    return message.find('\n') == std::string::npos ? message : "(several lines) " + message;
  }
  return "(no error)";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace monomorph::testing
