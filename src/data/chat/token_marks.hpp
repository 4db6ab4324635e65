#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// A stretch of a text, from the end of the one before it on: all of it counts in the loss, or nothing.
struct CountedStretch {
  std::size_t end;
  bool counted;
};

/// Tells which tokens of a text count, by what they stand for in it. The tokenizer must outlive it.
class TokenMarks {
 public:
  explicit TokenMarks(const Tokenizer& tokenizer);

  /// Appends for each of the text's tokens whether it reaches into a stretch that counts.
  /// @throws [CHAT-13] the tokens do not give the text back
  void append(std::string_view text, std::span<const std::int32_t> ids, std::span<const CountedStretch> stretches,
              std::vector<bool>& counted) const;

 private:
  /// Where in the text each token ends.
  std::vector<std::size_t> ends_of(std::string_view text, std::span<const std::int32_t> ids) const;
  const AddedToken* added(std::int32_t id) const;
  /// Where the added token ends that comes next at `at`, with the white space that it takes; npos if it does not.
  std::size_t end_of_added(std::string_view text, std::size_t at, const AddedToken& token) const;
  /// Goes over the tokens up to the next added one: from `at` on they stand in the text.
  void pass_ordinary(std::string_view text, std::span<const std::int32_t> ids, std::size_t& at,
                     std::vector<std::size_t>& ends) const;

  const Tokenizer& tokenizer_;
  std::unordered_map<std::int32_t, const AddedToken*> added_;
};

}  // namespace monomorph::data
