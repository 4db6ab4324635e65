#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// splitmix64.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n);
  template <class Items> const typename Items::value_type& pick(const Items& items) {
    return items[below(items.size())];
  }

 private:
  std::uint64_t state_;
};

/// All of data/tinyshakespeare.txt.
const std::string& shakespeare();

/// The deterministic generator of tests/fixtures/tokenizers/adversarial.py, string for string.
class AdversarialStrings {
 public:
  /// @param text real text, ASCII  @param special tokens that the tokeniser finds in the text, ASCII
  AdversarialStrings(std::string text, std::vector<std::string> special);
  std::string string(std::uint64_t seed) const;

 private:
  using Ranges = std::vector<std::pair<char32_t, char32_t>>;
  using Texts = std::vector<std::string>;

  std::string of_kind(std::size_t kind, SplitMix& random) const;
  std::string word(SplitMix& random) const;
  std::string blocks(SplitMix& random) const;
  std::string anything(SplitMix& random) const;
  std::string slice(SplitMix& random) const;
  std::string spaced(SplitMix& random) const;
  std::string numbers(SplitMix& random) const;
  std::string marks(SplitMix& random) const;
  std::string emoji(SplitMix& random) const;
  std::string special_tokens(SplitMix& random) const;
  std::string contractions(SplitMix& random) const;
  std::string run(SplitMix& random) const;
  std::string lines(SplitMix& random) const;
  std::string strange(SplitMix& random) const;

  std::string text_;
  Texts special_;
  Ranges blocks_, digits_, marks_, strange_;
  Texts white_space_, separators_, bases_, emoji_, contractions_, runs_, lines_;
};

/// The UTF-8 form; U+FFFD for a surrogate.
std::string utf8_of(char32_t code_point);
