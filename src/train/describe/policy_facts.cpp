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

/// "rank 8, alpha 16, dropout 0.05, of query, value"
std::string adapters_text(const LowRankSpec& spec) {
  std::vector<std::string> targets;
  for_each_field(spec.targets, [&](const char* name, const auto& chosen) {
    if (chosen) targets.emplace_back(name);
  });
  return fmt::format("rank {}, alpha {}{}{}, of {}", spec.rank.value, spec.alpha.value,
                     spec.rank_stabilised ? ", rank-stabilised" : "",
                     spec.dropout > 0 ? fmt::format(", dropout {}", spec.dropout.value) : "", fmt::join(targets, ", "));
}

}  // namespace

std::string text_of(const LayerKind& kind) {
  const std::vector<std::string>& phrases = kind.features.phrases();
  return phrases.empty() ? std::string(kind.name) : fmt::format("{} ({})", kind.name, fmt::join(phrases, ", "));
}

std::vector<Fact> policy_facts(const std::vector<LayerKind>& layers, std::span<const NamedPolicy> policies,
                               const MeshSpec& mesh, const LowRankSpec* low_rank) {
  std::vector<Fact> facts{{"layers", layers_text(layers)}};
  for (const NamedPolicy& policy : policies)
    facts.push_back({std::string(policy.axis), std::string(policy.name), policy.shapes_state});
  if (low_rank != nullptr) facts.push_back({"adapters", adapters_text(*low_rank)});
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
