#include "adversarial_strings.hpp"

#include "data_test_support.hpp"

#include <nlohmann/json.hpp>

namespace {

std::string cased(std::string text, char first, int change) {
  for (char& letter : text) {
    if (letter >= first && letter < first + 26) letter = static_cast<char>(letter + change);
  }
  return text;
}
std::string upper(std::string text) { return cased(std::move(text), 'a', -32); }
std::string lower(std::string text) { return cased(std::move(text), 'A', 32); }

std::string character_in(SplitMix& random, const std::vector<std::pair<char32_t, char32_t>>& ranges) {
  const auto [first, last] = random.pick(ranges);
  return utf8_of(first + static_cast<char32_t>(random.below(last - first + 1)));
}

}  // namespace

const std::string& shakespeare() {
  static const std::string text =
      monomorph::read_text_file(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt");
  return text;
}

std::uint64_t SplitMix::below(std::uint64_t n) {
  std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
  z = (z ^ z >> 27) * 0x94D049BB133111EBu;
  return ((z ^ z >> 31) >> 32) % n;
}

std::string utf8_of(char32_t code_point) {
  if (code_point >= 0xD800 && code_point < 0xE000) code_point = 0xFFFD;
  const auto tail = [&](int shift) { return static_cast<char>(0x80u | (code_point >> shift & 0x3Fu)); };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xC0u | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xE0u | code_point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xF0u | code_point >> 18), tail(12), tail(6), tail(0)};
}

AdversarialStrings::AdversarialStrings(std::string text, std::vector<std::string> special)
    : text_(std::move(text)), special_(std::move(special)) {
  const auto tables = nlohmann::json::parse(
      monomorph::read_text_file(std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/tokenizers/adversarial.json"));
  const auto ranges = [&](const char* name) { return tables[name].get<Ranges>(); };
  const auto texts = [&](const char* name) { return tables[name].get<Texts>(); };
  blocks_ = ranges("blocks"), digits_ = ranges("digits"), marks_ = ranges("marks"), strange_ = ranges("strange");
  white_space_ = texts("white_space"), separators_ = texts("separators"), bases_ = texts("bases");
  emoji_ = texts("emoji"), contractions_ = texts("contractions"), runs_ = texts("runs"), lines_ = texts("lines");
}

std::string AdversarialStrings::string(std::uint64_t seed) const {
  constexpr std::size_t n_kinds = 12;
  SplitMix random(seed);
  const std::size_t kind = random.below(n_kinds + 1);
  if (kind < n_kinds) return of_kind(kind, random);
  std::string result;
  for (std::uint64_t n = 2 + random.below(3); n > 0; --n) {
    const std::size_t part = random.below(n_kinds);
    result += of_kind(part, random);
  }
  return result;
}

std::string AdversarialStrings::of_kind(std::size_t kind, SplitMix& random) const {
  using Kind = std::string (AdversarialStrings::*)(SplitMix&) const;
  constexpr Kind kinds[] = {&AdversarialStrings::blocks,       &AdversarialStrings::anything,
                            &AdversarialStrings::slice,        &AdversarialStrings::spaced,
                            &AdversarialStrings::numbers,      &AdversarialStrings::marks,
                            &AdversarialStrings::emoji,        &AdversarialStrings::special_tokens,
                            &AdversarialStrings::contractions, &AdversarialStrings::run,
                            &AdversarialStrings::lines,        &AdversarialStrings::strange};
  const Kind chosen = kinds[kind];  // g++ 12's sanitizer looks for kinds[kind] in the call at a place of its own
  return (this->*chosen)(random);
}

std::string AdversarialStrings::word(SplitMix& random) const {
  const std::size_t begin = random.below(text_.size() - 64);
  return text_.substr(begin, 1 + random.below(8));
}

std::string AdversarialStrings::blocks(SplitMix& random) const {
  Ranges ranges;
  for (std::uint64_t n = 1 + random.below(3); n > 0; --n) ranges.push_back(random.pick(blocks_));
  std::string result;
  for (std::uint64_t n = 1 + random.below(24); n > 0; --n) result += character_in(random, ranges);
  return result;
}

std::string AdversarialStrings::anything(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(16); n > 0; --n) {
    result += utf8_of(static_cast<char32_t>(random.below(0x110000)));
  }
  return result;
}

std::string AdversarialStrings::slice(SplitMix& random) const {
  const std::size_t begin = random.below(text_.size() - 64);
  const std::string text = text_.substr(begin, 1 + random.below(60));
  const std::uint64_t form = random.below(4);
  return form == 0 ? upper(text) : form == 1 ? lower(text) : text;
}

std::string AdversarialStrings::spaced(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(8); n > 0; --n) {
    result += word(random);
    for (std::uint64_t m = 1 + random.below(3); m > 0; --m) result += random.pick(white_space_);
  }
  return result;
}

std::string AdversarialStrings::numbers(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
    const Ranges digits{random.pick(digits_)};
    for (std::uint64_t m = 1 + random.below(9); m > 0; --m) result += character_in(random, digits);
    result += random.pick(separators_);
  }
  return result;
}

std::string AdversarialStrings::marks(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
    result += random.pick(bases_);
    for (std::uint64_t m = random.below(6); m > 0; --m) result += character_in(random, marks_);
  }
  return result;
}

std::string AdversarialStrings::emoji(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(8); n > 0; --n) result += random.pick(emoji_);
  return result;
}

std::string AdversarialStrings::special_tokens(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(6); n > 0; --n) {
    const std::string& token = random.pick(special_);
    const std::uint64_t how = random.below(6);
    if (how == 3) {
      result += token.substr(0, 1 + random.below(token.size()));
    } else if (how == 4) {
      result += token.substr(random.below(token.size()));
    } else {
      result += how == 5 ? upper(token) : token;
    }
    if (random.below(3) == 0) result += word(random);
    if (random.below(4) == 0) result += " ";
  }
  return result;
}

std::string AdversarialStrings::contractions(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
    result += word(random);
    result += random.pick(contractions_);
  }
  return result;
}

std::string AdversarialStrings::run(SplitMix& random) const {
  std::string result = random.below(2) == 0 ? word(random) : "";
  const std::string& unit = random.pick(runs_);
  for (std::uint64_t n = 1 + random.below(400); n > 0; --n) result += unit;
  return result + (random.below(2) == 0 ? word(random) : "");
}

std::string AdversarialStrings::lines(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(12); n > 0; --n) result += random.pick(lines_);
  return result;
}

std::string AdversarialStrings::strange(SplitMix& random) const {
  std::string result;
  for (std::uint64_t n = 1 + random.below(10); n > 0; --n) {
    result += character_in(random, strange_);
    if (random.below(3) == 0) result += word(random);
  }
  return result;
}
