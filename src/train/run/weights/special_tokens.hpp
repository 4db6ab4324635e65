#pragma once
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What special tokens are for, as the keys of transformers' files begin: "bos_token_id", "bos_token".
enum class SpecialTokenUse { bos, eos, pad, unk };

/// The special tokens of a run's model, as the files in the run's folder name them: special_token_ids.json,
/// generation_config.json, tokenizer_config.json and special_tokens_map.json. Where none does, they are the run's own:
/// `<|endoftext|>` and other usual names.
class SpecialTokens {
 public:
  /// @param tokenizer null if the run has none; must outlive this
  SpecialTokens(std::string run_folder, const data::Tokenizer* tokenizer);

  /// What a config.json is to say, by special_token_keys: what that of the model said that the run comes from, else
  /// what the other files say, and null of what is not known; of padding nothing then.
  /// @throws UsageError [WEIGHTS-03], [RUN-29] a file is broken, or names an end that the tokeniser lacks. Other tokens
  ///   that it lacks are passed over: transformers would add them
  nlohmann::json of_config() const;

  /// All tokens of the tokeniser that any of the files names, what tokenizer_config.json names first.
  /// @throws as of_config
  std::vector<std::int32_t> all(SpecialTokenUse use) const;

 private:
  std::vector<std::int32_t> in_file(std::string_view file, SpecialTokenUse use) const;
  std::vector<std::int32_t> usual(SpecialTokenUse use) const;

  std::string folder_;
  const data::Tokenizer* tokenizer_;
  nlohmann::json kept_;
};

}  // namespace monomorph::train
