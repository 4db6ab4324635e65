#pragma once
#include <monomorph/core/error.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <sstream>
#include <string>
#include <string_view>

/// What each file of this folder defines: reads hostile bytes. It may refuse them with a monomorph::Error of one line;
/// whatever else it throws, and any access that a sanitizer stops, is a finding.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace monomorph::fuzz {

inline std::string_view as_text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const std::byte*>(data), size};
}
inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

/// Ends the program: what must hold for accepted input does not.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

/// Runs `action`; a refusal must be one line that begins with its id, or at most so many.
template <class Action> int refusing(Action action, int most_lines = 1) {
  try {
    action();
  } catch (const Error& error) {
    std::istringstream lines(error.what());
    int n_lines = 0;
    for (std::string line; std::getline(lines, line); ++n_lines)
      require(line.starts_with("["), "every line of an error begins with an id");
    require(n_lines >= 1 && n_lines <= most_lines, "an error has no more lines than it may");
  }
  return 0;
}

}  // namespace monomorph::fuzz
