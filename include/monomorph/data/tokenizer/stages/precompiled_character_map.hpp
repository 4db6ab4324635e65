#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// SentencePiece's compiled normaliser: which characters and short sequences are replaced, and by what.
/// Immutable; threads may share one.
class PrecompiledCharacterMap {
 public:
  /// @param bytes as in a SentencePiece model: 4 bytes size of the table, the table (a Darts double array), the
  /// replacements, each ended by a zero byte
  /// @throws [TOK-43] if they are not that
  explicit PrecompiledCharacterMap(std::string_view bytes);

  /// Appends `text`, valid UTF-8, with everything replaced, as the `tokenizers` package does it: a grapheme cluster of
  /// less than 6 bytes that begins with something in the table is replaced as a whole, else character by character.
  void apply(std::string_view text, std::string& output) const;

  struct Match {
    std::size_t length;  ///< in bytes
    std::string_view replacement;
  };
  /// The longest entry that `text` starts with, if there is one: what SentencePiece's own library goes by.
  std::optional<Match> longest_match(std::string_view text) const;

 private:
  /// Calls visit(Match) for every entry that `text` starts with, the shortest first, until it returns false.
  template <class Visit> void for_each_match(std::string_view text, Visit visit) const;
  /// What the first entry that `chunk` starts with becomes.
  std::optional<std::string_view> replacement(std::string_view chunk) const;
  void apply_to_cluster(std::string_view cluster, std::string& output) const;
  void check_table() const;

  std::vector<std::uint32_t> table_;
  std::string replacements_;
  std::array<std::string, 128> ascii_;  ///< what each of these characters becomes on its own
};

}  // namespace monomorph::data
