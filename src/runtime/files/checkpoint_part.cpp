#include "checkpoint_part.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <string_view>

namespace monomorph::runtime {
namespace {

/// Takes a number from the front of a text.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

}  // namespace

std::string to_text(const PartOfTensor& part) {
  return fmt::format("from {} of {}", part.first, fmt::join(part.shape, "x"));
}

std::optional<PartOfTensor> part_from(const std::string& text) {
  std::string_view rest = text;
  PartOfTensor part;
  if (!take(rest, "from ")) return std::nullopt;
  const auto first = take_number(rest);
  if (!first || !take(rest, " of ")) return std::nullopt;
  part.first = *first;
  do {
    const auto size = take_number(rest);
    if (!size) return std::nullopt;
    part.shape.push_back(*size);
  } while (take(rest, "x"));
  return rest.empty() ? std::optional(part) : std::nullopt;
}

std::optional<std::int64_t> n_elements(const std::vector<std::int64_t>& shape) {
  std::int64_t n = 1;
  for (const std::int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(n, size, &n)) return std::nullopt;
  return n;
}

}  // namespace monomorph::runtime
