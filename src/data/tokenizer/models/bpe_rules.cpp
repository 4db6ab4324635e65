#include "data/tokenizer/models/bpe_rules.hpp"

#include "data/tokenizer/definition/inconsistency.hpp"

namespace monomorph::data {

std::vector<MergeRule> bpe_rules(const tokenizer_models::Bpe& bpe, const Vocabulary& vocabulary) {
  const auto is_id = [&](std::int32_t id) { return id >= 0 && id < vocabulary.size(); };
  std::vector<MergeRule> rules;
  rules.reserve(bpe.merges.size());
  for (const TokenPair pair : bpe.merges) {
    if (!is_id(pair.left) || !is_id(pair.right)) {
      throw_inconsistent("merge {} names an id outside the vocabulary", rules.size());
    }
    // The second part continues a word that the first has begun, so its prefix is left out.
    const std::string& right = vocabulary.token(pair.right);
    const std::size_t prefix = bpe.continuing_subword_prefix.size();
    if (right.size() < prefix) {
      throw_inconsistent("the second part {} of merge {} is shorter than the continuing_subword_prefix",
                         in_quotes(right), rules.size());
    }
    const std::string merged = vocabulary.token(pair.left) + right.substr(prefix);
    const auto id = vocabulary.find(merged);
    if (!id) throw_inconsistent("merge {} makes {}, which is not in the vocabulary", rules.size(), in_quotes(merged));
    rules.push_back({pair, *id});
  }
  return rules;
}

}  // namespace monomorph::data
