#pragma once
#include <monomorph/block/sublayer.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/spec/attention_mask.hpp>
#include <monomorph/spec/decoder_spec.hpp>
#include <monomorph/spec/embedding_spec.hpp>
#include <monomorph/spec/mixture_spec.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <bitset>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// No model has more; a rule says so.
inline constexpr std::size_t most_layers = 256;

/// Layers that see a window, among others that see all before them.
struct LocalLayers {
  AttentionMask mask{};
  RotarySpec rotary{};
  std::bitset<most_layers> layers{};
  friend bool operator==(const LocalLayers&, const LocalLayers&) = default;
};

/// What decides the function that a decoder computes, or an encoder up to the hidden states that it pools, as far as
/// files of weights can say it: sizes and options, and of all layers the order of norms, the experts, and the mask and
/// rotary positions, unless some are local.
struct PortableModel {
  DecoderSpec model;
  AttentionMask mask{};
  BlockOrder order{};
  ModelOutput output{};
  bool has_masked_head = false;              ///< MaskedLanguageSpec's
  std::optional<MixtureSpec> mixture{};      ///< in the place of an MLP; the width of an expert is the model's d_ff
  std::optional<LocalLayers> local{};        ///< not all of them
  std::optional<EmbeddingSpec> embedding{};  ///< what an encoder makes of hidden states; not all files say it
  /// Rows that no token has before those of a family's table of positions. Of a recipe's model none.
  std::int64_t unused_positions = 0;
};

/// Of a recipe whose layers are all dense blocks of one order, or all a mixture's, with one mask and one spec of rotary
/// positions, or two of which one is a window. Whether attention keeps within documents is no matter here: a text alone
/// is one document.
/// @throws UsageError [WEIGHTS-01] naming what the recipe has besides
PortableModel portable_model(const RecipeProgram& recipe);

/// By name as `describe` and checkpoints have them ("model.norm.epsilon"), what decides the function of a model,
/// "mask", "order", "output", of local layers "local.mask" and the like, and of a mixture "experts.top_k" and the like.
/// What only training reads (dropout, initialisation, the kernel of attention) is left out, and so is what no other
/// field reads, as the base of rotary positions where positions are learned.
using ModelFacts = std::map<std::string, std::string>;
ModelFacts facts_of(const PortableModel& portable);
/// Those of what an encoder makes of hidden states, in the order of EncoderSpec's fields.
std::vector<Fact> embedding_facts(const EmbeddingSpec& embedding);
/// Whether a fact of a model is one of these.   @param facts all of the same model
bool decides_function(const std::string& name, const ModelFacts& facts);

/// One line for each fact in which two models differ, or that only one of them has: "model.d_ff is 96 <there>, and 128
/// <here>".
std::vector<std::string> differences(const ModelFacts& there, std::string_view where_there, const ModelFacts& here,
                                     std::string_view where_here);

}  // namespace monomorph::train
