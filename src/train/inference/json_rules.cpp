#include "train/inference/json_rules.hpp"

namespace monomorph::train {
namespace {

// 1, 2, 3: so many bytes of a character are to come. 4, 5: a second byte that rules out longer forms than are needed,
// and halves of surrogates. 6, 7: the same of four bytes, and what is beyond U+10FFFF.
constexpr Utf8Edge edges_of_text[] = {{0, 0x20, 0x21, 0}, {0, 0x23, 0x5B, 0}, {0, 0x5D, 0x7F, 0}, {0, 0xC2, 0xDF, 1},
                                      {0, 0xE0, 0xE0, 4}, {0, 0xE1, 0xEC, 2}, {0, 0xED, 0xED, 5}, {0, 0xEE, 0xEF, 2},
                                      {0, 0xF0, 0xF0, 6}, {0, 0xF1, 0xF3, 3}, {0, 0xF4, 0xF4, 7}, {1, 0x80, 0xBF, 0},
                                      {2, 0x80, 0xBF, 1}, {3, 0x80, 0xBF, 2}, {4, 0xA0, 0xBF, 1}, {5, 0x80, 0x9F, 1},
                                      {6, 0x90, 0xBF, 2}, {7, 0x80, 0x8F, 2}};

void add_hex_digit(GrammarBuilder& builder, std::int32_t from, std::int32_t to) {
  builder.bytes(from, '0', '9', to);
  builder.bytes(from, 'A', 'F', to);
  builder.bytes(from, 'a', 'f', to);
}

}  // namespace

std::span<const Utf8Edge> utf8_edges() { return edges_of_text; }

JsonRules::JsonRules(GrammarBuilder& builder) : builder_(builder) {
  add_space();
  add_strings();
  add_numbers();
  add_values();
}

void JsonRules::add_space() {
  space_ = builder_.node();
  builder_.byte(space_, ' ', builder_.end_node());
  std::int32_t line = builder_.end_node();
  builder_.byte(space_, '\n', line);
  for (int i = 0; i < most_indent; ++i) {
    const std::int32_t next = builder_.end_node();
    builder_.byte(line, ' ', next);
    builder_.byte(line, '\t', next);
    line = next;
  }
}

std::int32_t JsonRules::spaced(std::int32_t from) {
  const std::int32_t to = builder_.node();
  builder_.skip(from, to);
  builder_.call(from, space_, to);
  return to;
}

std::int32_t JsonRules::end_string(std::int32_t from) {
  const std::int32_t end = builder_.end_node();
  builder_.byte(from, '"', end);
  return end;
}

void JsonRules::add_strings() {
  string_ = builder_.node();
  add_characters(string_, string_);
  end_string(string_);
  for (std::int32_t& state : plain_) state = builder_.node();
  for (const Utf8Edge& edge : edges_of_text)
    builder_.bytes(plain_key(edge.state), edge.least, edge.most, plain_key(edge.to));
  end_of_key_ = end_string(plain_[0]);
}

/// A character's bytes, or its escape.
void JsonRules::add_characters(std::int32_t from, std::int32_t to) {
  std::array<std::int32_t, n_utf8_states> states{from};
  for (std::size_t i = 1; i < states.size(); ++i) states[i] = builder_.node();
  for (const Utf8Edge& edge : edges_of_text)
    builder_.bytes(states[static_cast<std::size_t>(edge.state)], edge.least, edge.most,
                   edge.to == 0 ? to : states[static_cast<std::size_t>(edge.to)]);
  add_escapes(from, to);
}

/// The first half of a surrogate pair is there with the second one behind it, and that is never alone.
void JsonRules::add_escapes(std::int32_t from, std::int32_t to) {
  const std::int32_t escape = builder_.node(), code = builder_.node(), last = builder_.node(), third = builder_.node(),
                     second = builder_.node(), after_d = builder_.node(), pair_third = builder_.node(),
                     pair_last = builder_.node(), low = builder_.node();
  builder_.byte(from, '\\', escape);
  for (const char one : std::string_view("\"\\/bfnrt")) builder_.byte(escape, one, to);
  builder_.byte(escape, 'u', code);
  builder_.bytes(code, '0', '9', second);
  for (const char letter : std::string_view("ABCEFabcef")) builder_.byte(code, letter, second);
  builder_.byte(code, 'D', after_d);
  builder_.byte(code, 'd', after_d);
  add_hex_digit(builder_, second, third);
  builder_.bytes(after_d, '0', '7', third);
  add_hex_digit(builder_, third, last);
  add_hex_digit(builder_, last, to);
  builder_.bytes(after_d, '8', '9', pair_third);
  builder_.bytes(after_d, 'A', 'B', pair_third);
  builder_.bytes(after_d, 'a', 'b', pair_third);
  add_hex_digit(builder_, pair_third, pair_last);
  const std::int32_t half = builder_.node();
  add_hex_digit(builder_, pair_last, half);
  const std::int32_t of_low = builder_.text(half, "\\u"), behind_low = builder_.node();
  builder_.byte(of_low, 'D', low);
  builder_.byte(of_low, 'd', low);
  builder_.bytes(low, 'C', 'F', behind_low);
  builder_.bytes(low, 'c', 'f', behind_low);
  add_hex_digit(builder_, behind_low, last);
}

/// Bounds fall together, so that strings with the same that is left share their nodes.
std::int32_t JsonRules::string(std::int64_t least, std::int64_t most) {
  std::vector<std::pair<std::int64_t, std::int64_t>> chain;
  for (auto key = std::pair(least, most); !bounded_.contains(key);) {
    bounded_[key] = builder_.node();
    chain.push_back(key);
    if (key.second == 0) break;
    key = {std::max<std::int64_t>(0, key.first - 1), key.second - 1};
  }
  for (const auto& [needed, left] : chain) {
    const std::int32_t from = bounded_.at({needed, left});
    builder_.set_counts(from, needed, left);
    if (left > 0) add_characters(from, bounded_.at({std::max<std::int64_t>(0, needed - 1), left - 1}));
    if (needed == 0) end_string(from);
  }
  return bounded_.at({least, most});
}

/// The first characters are needed; behind them it is any string.
std::int32_t JsonRules::string_from(std::int64_t least) {
  if (longer_.empty()) longer_.push_back(string_);
  while (std::ssize(longer_) <= least) {
    const std::int32_t from = builder_.node();
    add_characters(from, longer_.back());
    builder_.set_counts(from, std::ssize(longer_), INT16_MAX);
    longer_.push_back(from);
  }
  return longer_[static_cast<std::size_t>(least)];
}

void JsonRules::add_numbers() {
  // Behind a first digit, up to `most` with it.
  const auto more_digits = [&](std::int32_t at, int most, const auto& each) {
    for (int i = 1;; ++i) {
      each(at);
      if (i == most) return;
      const std::int32_t next = builder_.node();
      builder_.bytes(at, '0', '9', next);
      at = next;
    }
  };
  const auto digits = [&](std::int32_t from, int most, const auto& each) {
    const std::int32_t first = builder_.node();
    builder_.bytes(from, '0', '9', first);
    more_digits(first, most, each);
  };
  const std::int32_t end = builder_.end_node();
  const auto may_end = [&](std::int32_t at) { builder_.skip(at, end); };
  const std::int32_t exponent = builder_.node(), sign = builder_.node(), point = builder_.node();
  builder_.byte(exponent, '+', sign);
  builder_.byte(exponent, '-', sign);
  builder_.skip(exponent, sign);
  digits(sign, 2, may_end);
  const auto may_have_exponent = [&](std::int32_t at) {
    may_end(at);
    builder_.byte(at, 'E', exponent);
    builder_.byte(at, 'e', exponent);
  };
  digits(point, most_fraction_digits, may_have_exponent);
  const auto may_have_fraction = [&](std::int32_t at) {
    may_have_exponent(at);
    builder_.byte(at, '.', point);
  };
  const auto whole = [&](std::int32_t minus_or_digit, bool zero_behind_minus, const auto& each) {
    const std::int32_t behind_minus = builder_.node(), zero = builder_.node(), digit = builder_.node();
    builder_.byte(minus_or_digit, '-', behind_minus);
    builder_.byte(minus_or_digit, '0', zero);
    if (zero_behind_minus) builder_.byte(behind_minus, '0', zero);
    each(zero);
    for (const std::int32_t from : {minus_or_digit, behind_minus}) builder_.bytes(from, '1', '9', digit);
    more_digits(digit, most_integer_digits, each);
  };
  number_ = builder_.node();
  whole(number_, true, may_have_fraction);
  integer_ = builder_.node();
  whole(integer_, false, may_end);
}

void JsonRules::add_values() {
  value_ = builder_.node();
  object_ = builder_.node();
  const std::int32_t end = builder_.end_node(), quoted = builder_.node();
  builder_.byte(value_, '"', quoted);
  builder_.call(quoted, string_, end);
  builder_.call(value_, number_, end);
  for (const char* const literal : {"true", "false", "null"}) builder_.skip(builder_.text(value_, literal), end);
  add_object(value_, end);
  add_array(value_, end);
  add_object(object_, end);
}

void JsonRules::add_object(std::int32_t from, std::int32_t to) {
  const std::int32_t open = builder_.node(), key = builder_.node(), keyed = builder_.node(), valued = builder_.node();
  builder_.byte(from, '{', open);
  const std::int32_t first = spaced(open);
  builder_.byte(first, '}', to);
  builder_.byte(first, '"', key);
  builder_.call(key, string_, keyed);
  const std::int32_t colon = builder_.text(spaced(keyed), ":");
  builder_.call(spaced(colon), value_, valued);
  const std::int32_t behind = spaced(valued);
  builder_.byte(behind, '}', to);
  builder_.byte(spaced(builder_.text(behind, ",")), '"', key);
}

void JsonRules::add_array(std::int32_t from, std::int32_t to) {
  const std::int32_t open = builder_.node(), valued = builder_.node();
  builder_.byte(from, '[', open);
  const std::int32_t first = spaced(open);
  builder_.byte(first, ']', to);
  builder_.call(first, value_, valued);
  const std::int32_t behind = spaced(valued);
  builder_.byte(behind, ']', to);
  builder_.call(spaced(builder_.text(behind, ",")), value_, valued);
}

}  // namespace monomorph::train
