#pragma once
#include <monomorph/core/error.hpp>

#include <sstream>
#include <string>
#include <vector>

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

/// Of the monomorph::Error that `action` throws: the lines of its message; none if it throws none.
template <class Action> std::vector<std::string> error_lines_of(Action action) {
  std::vector<std::string> lines;
  try {
    action();
  } catch (const Error& error) {
    std::istringstream text(error.what());
    for (std::string line; std::getline(text, line);) lines.push_back(line);
  }
  return lines;
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace monomorph::testing
