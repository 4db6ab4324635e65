#pragma once
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace monomorph::train {

/// Items of a message on one line. A file from outside may have millions of them, of which the first say enough.
inline std::string listed(std::vector<std::string> items, std::string_view separator = "; ") {
  constexpr std::size_t most = 24;
  const std::size_t n = items.size();
  if (n > most) {
    items.resize(most);
    items.push_back(fmt::format("and {} more", n - most));
  }
  return fmt::format("{}", fmt::join(items, separator));
}

}  // namespace monomorph::train
