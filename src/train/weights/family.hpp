#pragma once
#include "train/weights/portable_model.hpp"

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <string_view>

namespace monomorph::train {

/// Where a canonical tensor lies among those of a family. "#" stands for the number of a block, of a tensor of no block
/// for that of the last one, "@" for that of an expert, of which each has a tensor of its own there. Canonical tensors
/// that have the same place lie in it one below the other, in the order of the rows: a fused projection.
struct TensorRow {
  std::string_view ours, theirs;
  bool transposed = false;  ///< theirs is (in, out)
  int blocks_before = 0;    ///< theirs lies in the block so many before ours
};

/// A table of theirs of which all tokens of ours have the first row: it is added to each row of ours as weights are
/// read. What is written there are zeros.
struct SharedRow {
  std::string_view ours{}, theirs{};
  std::int64_t rows = 0;  ///< that are written
};
/// What older files have in the place of an end of a tensor's name.
struct OlderName {
  std::string_view end, older;
};

/// A value of config.json that no recipe can express.
struct NotExpressible {
  std::string reason{};  ///< what it must be, if the value alone does not show it
};
/// A value of config.json that is of another type than its key has.
struct WrongType {};

/// A key of config.json, and what it says of a model.
struct ConfigRow {
  std::string_view key;
  const char* absent;  ///< JSON of what transformers reads where the key is not there; null if it must be there
  nlohmann::json (*value)(const PortableModel&);
  /// Has the model become what the value says. Null where the family has one value for each model: another one is a
  /// feature that recipes do not have.
  /// @throws NotExpressible; WrongType or nlohmann::json::exception for a value of another type
  void (*take)(PortableModel&, const nlohmann::json& value) = nullptr;
  /// Keys, of rows before this one, in whose place newer files have this one. It is read after them and never written,
  /// and a file that has both must say the same by both.
  std::span<const std::string_view> older{};
  /// What a model must have for transformers, from version 5 on, to take what its file would say, though it is read
  /// here; empty if it has that. Null where all values are taken.
  std::string (*unmet)(const PortableModel&) = nullptr;
};

/// A kind of model of Hugging Face's transformers: what its files say, as tables. All else follows from them, in both
/// directions.
struct Family {
  std::string_view model_type, architecture;  ///< as config.json names them
  PortableModel base;                         ///< what all models of the family have; sizes are taken from the rows
  std::span<const ConfigRow> config;
  std::span<const std::string_view> ignored;  ///< keys that change nothing in what a decoder computes
  std::span<const TensorRow> tensors;
  std::span<const std::string_view> buffers;  ///< tensors in older files that are no parameters
  std::string_view optional_prefix;           ///< of tensors: some files have it, and others lack it
  SharedRow shared_row{};
  std::span<const OlderName> older_names{};
  std::span<const std::string_view> other_heads{};  ///< beginnings of names of what no recipe makes of hidden states
  /// Of models whose files have the trunk below a name, and beside it what a head makes of hidden states.
  std::string_view trunk{};
  std::span<const TensorRow> head{};
  const Family* with_masked_head = nullptr;  ///< the same with a head for masked tokens
  std::span<const TensorRow> copies{};       ///< what some files have a second time
};

/// All that there are, those that say less first.
std::span<const Family* const> families();
/// Null if there is none of that name. Those with a head for masked tokens are found through the ones without it.
const Family* find_family(std::string_view model_type);

// Defined each in a file of its own.
extern const Family gpt2, llama, mistral, qwen2, qwen3, mixtral, gemma2, gemma3, bert, roberta, xlm_roberta, camembert,
    masked_bert;

/// The first family that expresses a recipe's model by a config.json that transformers takes, or this one.
/// @param asked null for the first
/// @throws UsageError [WEIGHTS-01] none does, or this one does not: what it, or the one that comes nearest, lacks
const Family& family_for(const RecipeProgram& recipe, const Family* asked = nullptr);
/// The first family that computes what a recipe's model does, for files that have no config.json.
/// @throws UsageError [WEIGHTS-01] as family_for
const Family& family_computing(const RecipeProgram& recipe);

/// The other name that some files have for a tensor: without the family's optional prefix, or with it.
inline std::string other_name(const Family& family, const std::string& name) {
  return name.starts_with(family.optional_prefix) ? name.substr(family.optional_prefix.size())
                                                  : std::string(family.optional_prefix) + name;
}

/// The rows' part of a config.json.
nlohmann::json config_of(const Family& family, const PortableModel& portable);

/// @param where the file, for messages
/// @throws UsageError [WEIGHTS-03] a value that is missing or of another type; [WEIGHTS-04] all that recipes do not
///   have, by name
PortableModel model_from(const Family& family, const nlohmann::json& config, const std::string& where);

}  // namespace monomorph::train
