#include "train/weights/llama_rows.hpp"

#include <algorithm>

/// Mixtral: Mistral with a mixture of experts in the place of each MLP.
namespace monomorph::train {
namespace {

using namespace llama_rows;

/// A number of experts.
template <auto field> constexpr ConfigRow experts(std::string_view key, const char* absent) {
  return {key, absent,
          [](const PortableModel& portable) -> json {
            return portable.mixture ? json((*portable.mixture.*field).value) : json(nullptr);
          },
          [](PortableModel& portable, const json& value) {
            const std::int64_t n = config_rows::size_from(value);
            if (n > most_experts) throw NotExpressible{"more experts than recipes may have"};
            *portable.mixture.*field = static_cast<int>(n);
          }};
}

constexpr ConfigRow top_k = experts<&MixtureSpec::top_k>("num_experts_per_tok", "2");
/// Reads what the row of all experts has read.
constexpr ConfigRow chosen_experts{top_k.key, top_k.absent, top_k.value,
                                   [](PortableModel& portable, const json& value) {
                                     top_k.take(portable, value);
                                     const MixtureSpec& mixture = *portable.mixture;
                                     if (mixture.top_k == 1)
                                       throw NotExpressible{"the weight of a single expert would always be 1"};
                                     if (mixture.top_k >= mixture.n_experts)
                                       throw NotExpressible{"a router must have some to leave out"};
                                   }};

constexpr auto mixtral_config =
    rows_and({.kv_heads = "8", .epsilon = "1e-5", .rotary_base = "1e6"}, rotary_parameters, silu, window("null"),
             experts<&MixtureSpec::n_experts>("num_local_experts", "8"), chosen_experts);

/// Of the balance of experts, which only training knows: transformers counts it over all layers together, and we by
/// layer.
constexpr std::array<std::string_view, 3> mixtral_ignored{"output_router_logits", "router_aux_loss_coef",
                                                          "router_jitter_noise"};

constexpr std::array experts_tensors{
    TensorRow{"layers.#.mlp.router.weight", "model.layers.#.block_sparse_moe.gate.weight"},
    TensorRow{"layers.#.mlp.experts.gate.weight", "model.layers.#.block_sparse_moe.experts.@.w1.weight"},
    TensorRow{"layers.#.mlp.experts.up.weight", "model.layers.#.block_sparse_moe.experts.@.w3.weight"},
    TensorRow{"layers.#.mlp.experts.down.weight", "model.layers.#.block_sparse_moe.experts.@.w2.weight"}};

constexpr auto mixtral_tensors = [] {
  std::array<TensorRow, tensors.size() + experts_tensors.size()> both{};
  std::ranges::copy(experts_tensors, std::ranges::copy(tensors, both.begin()).out);
  return both;
}();

constexpr PortableModel mixtral_base() {
  PortableModel portable = base(false, false);
  portable.mixture = MixtureSpec{.n_experts = 1, .top_k = 1};
  return portable;
}

}  // namespace

const Family mixtral{"mixtral",       "MixtralForCausalLM", mixtral_base(), mixtral_config,
                     mixtral_ignored, mixtral_tensors,      buffers,        "model."};

}  // namespace monomorph::train
