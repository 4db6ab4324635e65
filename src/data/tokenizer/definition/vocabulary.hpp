#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace monomorph::data {

/// The tokens of a model by their text.
class Vocabulary {
 public:
  /// @param tokens by id, "" where an id has none; they must outlive it
  /// @throws [TOK-03] if two are the same, unless that is allowed: then the last counts
  explicit Vocabulary(const std::vector<std::string>& tokens, bool may_repeat = false);

  std::optional<std::int32_t> find(std::string_view token) const {
    const auto found = ids_.find(token);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }
  const std::string& token(std::int32_t id) const { return tokens_[static_cast<std::size_t>(id)]; }
  std::int32_t size() const { return static_cast<std::int32_t>(tokens_.size()); }

 private:
  const std::vector<std::string>& tokens_;
  std::unordered_map<std::string_view, std::int32_t> ids_;
};

}  // namespace monomorph::data
