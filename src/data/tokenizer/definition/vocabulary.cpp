#include "data/tokenizer/definition/vocabulary.hpp"

#include "data/tokenizer/definition/inconsistency.hpp"

namespace monomorph::data {

Vocabulary::Vocabulary(const std::vector<std::string>& tokens, bool may_repeat) : tokens_(tokens) {
  ids_.reserve(tokens.size());
  for (std::size_t id = 0; id < tokens.size(); ++id) {
    if (tokens[id].empty()) continue;
    const auto [known, is_new] = ids_.emplace(tokens[id], static_cast<std::int32_t>(id));
    if (is_new) continue;
    if (!may_repeat) throw_inconsistent("the token {} has the ids {} and {}", in_quotes(tokens[id]), known->second, id);
    known->second = static_cast<std::int32_t>(id);
  }
}

}  // namespace monomorph::data
