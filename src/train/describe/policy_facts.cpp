#include <monomorph/train/describe/recipe_program.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace monomorph::train {
namespace {

/// "4 x monomorph::DecoderBlock, 2 x monomorph::Mixture (8 experts, …)"
std::string layers_text(const std::vector<LayerKind>& layers) {
  std::string text;
  for (const LayerKind& kind : layers)
    text += fmt::format("{}{} x {}", text.empty() ? "" : ", ", kind.count, text_of(kind));
  return text;
}

}  // namespace

std::string text_of(const LayerKind& kind) {
  const std::vector<std::string>& phrases = kind.features.phrases();
  return phrases.empty() ? std::string(kind.name) : fmt::format("{} ({})", kind.name, fmt::join(phrases, ", "));
}

std::vector<Fact> policy_facts(const std::vector<LayerKind>& layers, std::span<const NamedPolicy> policies,
                               const MeshSpec& mesh) {
  std::vector<Fact> facts{{"layers", layers_text(layers)}};
  for (const NamedPolicy& policy : policies)
    facts.push_back({std::string(policy.axis), std::string(policy.name), policy.shapes_state});
  facts.push_back({"mesh", fmt::format("tp {}, pp {}, cp {}", mesh.tp.value, mesh.pp.value, mesh.cp.value), false});
  return facts;
}

std::vector<Fact> expectation_facts(const Expect* expect, const Budget* budget) {
  return {{"expect", expect != nullptr ? fmt::format("params {}", expect->params.value) : "none", false},
          {"budget",
           budget != nullptr ? fmt::format("ranks {}, bytes_per_rank {}, micro_batch {}", budget->ranks.value,
                                           budget->bytes_per_rank.value, budget->micro_batch.value)
                             : "none",
           false}};
}

}  // namespace monomorph::train
