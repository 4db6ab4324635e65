#pragma once
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// Which added tokens are looked for. A special token that is not looked for still hides others that overlap it.
enum class FindTokens { all, ordinary };

/// Finds added tokens in a text: from left to right, at each place the longest. Immutable; threads may share one.
class AddedTokenSearch {
 public:
  /// Adds a token that is found where `content`, not empty, stands; of two with the same content the first counts.
  void add(const std::string& content, const AddedToken& token);

  bool empty() const { return tokens_.empty(); }
  std::size_t longest() const { return longest_; }
  /// Whether some token depends on the text around it.
  bool looks_around() const { return looks_around_; }

  /// A token of the text, with the white space that it takes.
  struct Found {
    std::size_t begin, end;
    std::int32_t id;
  };

  /// Visits the tokens whose content begins before `end`. What precedes the first, lies between two or follows the
  /// last is text; a token may begin before the one before it ends, if that one took white space that it has, too.
  template <class Visit> void for_each(std::string_view text, std::size_t end, FindTokens which, Visit visit) const {
    std::size_t position = 0, taken = 0;
    while (const auto match = find(text, position, end)) {
      position = match->begin + match->length;
      const auto found = settled(text, *match, which, taken);
      if (!found) continue;
      visit(*found);
      taken = found->end;
    }
  }

 private:
  struct Token {
    std::int32_t id;
    bool special, single_word, lstrip, rstrip;
  };
  struct Match {
    std::size_t begin, length;
    std::int32_t token;
  };

  std::optional<Match> find(std::string_view text, std::size_t begin, std::size_t end) const;
  std::optional<Match> longest_at(std::string_view text, std::size_t begin) const;
  /// The match with its white space, of which what lies before `taken` belongs to another token; nothing if it is not
  /// wanted, or was to be a single word and is not.
  std::optional<Found> settled(std::string_view text, const Match& match, FindTokens which, std::size_t taken) const;

  static constexpr std::int32_t none = -1;

  std::vector<Token> tokens_;
  // A tree over the bytes of all contents, whose root is node 0.
  std::vector<std::int32_t> token_at_node_{none};             ///< whose content ends there
  std::unordered_map<std::uint64_t, std::int32_t> children_;  ///< by node and byte
  std::array<bool, 256> starts_one_{};
  std::size_t longest_ = 0;
  bool looks_around_ = false;
};

}  // namespace monomorph::data
