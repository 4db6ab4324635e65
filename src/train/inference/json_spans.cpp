#include "train/inference/json_spans.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace monomorph::train {
namespace {

constexpr std::string_view in_numbers = "+-.0123456789eE";
constexpr int most_levels = 64;

/// Behind the quote that ends the string that begins there; the text's end if there is none.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  for (std::size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return text.size();
}

/// Takes the digits that a text begins with, and says how many there were.
std::size_t take_digits(std::string_view& text) {
  const std::size_t n = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(n);
  return n;
}

bool is_json_number(std::string_view text) {
  const auto take = [&](std::string_view any) {
    const bool has = !text.empty() && any.find(text[0]) != std::string_view::npos;
    if (has) text.remove_prefix(1);
    return has;
  };
  take("-");
  const bool has_zero = text.starts_with('0');
  const std::size_t n_digits = take_digits(text);
  if (n_digits == 0 || (has_zero && n_digits > 1)) return false;
  if (take(".") && take_digits(text) == 0) return false;
  if (take("eE")) {
    take("+-");
    if (take_digits(text) == 0) return false;
  }
  return text.empty();
}

/// Goes through the values of an object or a list, and the names, which are before values, as if they were some.
class Values {
 public:
  explicit Values(std::string_view container) : text_(container) {}

  std::optional<std::string_view> next() {
    at_ = text_.find_first_not_of(" \t\r\n,:", at_);
    if (text_[at_] == '}' || text_[at_] == ']') return std::nullopt;
    const std::string_view value = text_.substr(at_, end() - at_);
    at_ += value.size();
    return value;
  }

 private:
  std::size_t end() const {
    if (text_[at_] == '"') return end_of_string(text_, at_);
    if (text_[at_] == '{' || text_[at_] == '[') return at_ + end_of_json(text_.substr(at_));
    return text_.find_first_of(" \t\r\n,}]", at_);
  }

  std::string_view text_;
  std::size_t at_ = 1;
};

}  // namespace

std::size_t end_of_json(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if ((c == '{' || c == '[') && ++depth > most_levels) return std::string_view::npos;
    if ((c == '}' || c == ']') && --depth == 0) return i + 1;
    if (depth == 0) return std::string_view::npos;
    i = c == '"' ? end_of_string(text, i) : i + 1;
  }
  return std::string_view::npos;
}

std::string with_zeros(std::string_view json) {
  std::string text(json);
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '"') {
      at = end_of_string(json, at);
      continue;
    }
    const std::size_t end = std::min(json.find_first_not_of(in_numbers, at), json.size());
    if (is_json_number(json.substr(at, end - at))) text.replace(at, end - at, "0" + std::string(end - at - 1, ' '));
    at = std::max(at + 1, end);
  }
  return text;
}

bool is_json(std::string_view text) { return nlohmann::json::accept(with_zeros(text)); }

std::optional<std::string_view> member_of(std::string_view object, std::string_view name) {
  std::optional<std::string_view> found;
  Values values(object);
  while (const auto key = values.next()) {
    const auto value = values.next();
    if (nlohmann::json::parse(*key) == name) found = value;
  }
  return found;
}

std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  Values values(list);
  while (const auto item = values.next()) items.push_back(*item);
  return items;
}

}  // namespace monomorph::train
