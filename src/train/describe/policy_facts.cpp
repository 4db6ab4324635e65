#include <monomorph/train/describe/recipe_program.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>

namespace monomorph::train {
namespace {

void add_sizes(std::vector<std::string>& parts, const DecoderSpec& own, const DecoderSpec& model) {
  const auto add = [&](std::string_view name, std::int64_t size, std::int64_t usual) {
    if (size != usual) parts.push_back(fmt::format("{} {}", name, size));
  };
  add("heads", own.n_heads, model.n_heads);
  add("key heads", own.kv_heads(), model.kv_heads());
  add("head width", own.head_width(), model.head_width());
  add("MLP", own.ff_width(), model.ff_width());
}

void add_mixture(std::vector<std::string>& parts, const MixtureSpec& mixture, const DecoderSpec& model) {
  parts.push_back(
      fmt::format("{} experts of width {}", mixture.n_experts.value, mixture.d_expert.value_or(model.ff_width())));
  parts.push_back(fmt::format("top {} by {}{}", mixture.top_k.value,
                              mixture.scores == RouterScores::softmax ? "softmax" : "sigmoid",
                              mixture.normalize ? ", normalised" : ""));
  if (mixture.n_shared > 0) parts.push_back(fmt::format("{} shared", mixture.n_shared.value));
  parts.push_back(mixture.capacity_factor.given ? fmt::format("capacity factor {}", mixture.capacity_factor.value)
                                                : "dropless");
  if (mixture.balance_loss > 0) parts.push_back(fmt::format("balance loss {}", mixture.balance_loss.value));
  if (mixture.z_loss > 0) parts.push_back(fmt::format("z-loss {}", mixture.z_loss.value));
  if (mixture.bias_rate > 0) parts.push_back(fmt::format("bias rate {}", mixture.bias_rate.value));
}

std::string kind_text(const LayerKind& kind, const DecoderSpec& model) {
  std::vector<std::string> parts;
  if (!kind.attention.empty()) parts.emplace_back(kind.attention);
  if (kind.order != BlockOrder::pre_norm) parts.emplace_back(order_name(kind.order));
  if (kind.model != nullptr) add_sizes(parts, *kind.model, model);
  if (kind.mixture != nullptr) add_mixture(parts, *kind.mixture, *kind.model);
  const std::string text = fmt::format("{} x {}", kind.count, kind.name);
  return parts.empty() ? text : fmt::format("{} ({})", text, fmt::join(parts, ", "));
}

/// "4 x monomorph::DecoderBlock, 2 x monomorph::Mixture (8 experts, …)": what is not as usual in parentheses.
std::string layers_text(const std::vector<LayerKind>& layers, const DecoderSpec& model) {
  std::string text;
  for (const LayerKind& kind : layers) text += (text.empty() ? "" : ", ") + kind_text(kind, model);
  return text;
}

}  // namespace

std::string_view order_name(BlockOrder order) {
  constexpr std::array<std::string_view, 4> names{"pre-norm", "post-norm", "sandwich-norm", "parallel"};
  return names[static_cast<std::size_t>(order)];
}

std::vector<Fact> policy_facts(const std::vector<LayerKind>& layers, const DecoderSpec& model,
                               std::span<const NamedPolicy> policies, const MeshSpec& mesh) {
  std::vector<Fact> facts{{"layers", layers_text(layers, model)}};
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
