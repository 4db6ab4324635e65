#pragma once
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
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

/// Names from outside, which may have line breaks in them.
inline std::string listed_in_quotes(std::vector<std::string> names) {
  for (std::string& name : names) name = in_quotes(name);
  return listed(std::move(names), ", ");
}

/// A key of a JSON file with its value, as such an item.
inline std::string entry_text(std::string_view key, const nlohmann::json& value) {
  return in_quotes(fmt::format("{}: {}", key, value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)));
}

}  // namespace monomorph::train
