#pragma once
#include <exception>
#include <string>

namespace monomorph::distributed {

/// The first line of a message of c10d's, which has a stack trace behind it.
inline std::string first_line(const std::exception& failure) {
  const std::string all = failure.what();
  return all.substr(0, all.find('\n'));
}

}  // namespace monomorph::distributed
