#pragma once
#include <exception>
#include <string>

namespace monomorph::distributed {

/// Of what c10d says, which has its stack behind it.
inline std::string first_line(const std::exception& failure) {
  const std::string all = failure.what();
  return all.substr(0, all.find('\n'));
}

}  // namespace monomorph::distributed
