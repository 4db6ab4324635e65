#include "support/reference_model.hpp"

#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/log_sigmoid.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/topk.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace monomorph::testing {
namespace {

using at::Tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor leaf(const Values& values, at::IntArrayRef shape, bool requires_grad) {
  Tensor tensor = at::from_blob(const_cast<double*>(values.data()), shape, at::kDouble).clone();
  return tensor.set_requires_grad(requires_grad);
}

Values values_of(const Tensor& tensor) {
  const Tensor plain = tensor.detach().contiguous();
  return Values(plain.const_data_ptr<double>(), plain.const_data_ptr<double>() + plain.numel());
}

Tensor indices(const std::vector<std::int32_t>& ids) {
  return at::from_blob(const_cast<std::int32_t*>(ids.data()), {static_cast<std::int64_t>(ids.size())}, at::kInt)
      .to(at::kLong);
}

std::int64_t block_of(const std::string& name) { return name.starts_with("layers.") ? std::stol(name.substr(7)) : 0; }

/// Columns of a layer's matrix of n elements.
std::int64_t inputs_of(const std::string& name, const ReferenceLayer& layer, std::int64_t n) {
  const DecoderSpec& model = layer.model;
  if (name.ends_with("lora_A")) return n / layer.low_rank->rank;
  if (name.ends_with("lora_B")) return layer.low_rank->rank;
  if (name.ends_with("out.weight")) return model.q_width();
  if (!name.ends_with("down.weight")) return model.d_model;
  if (!layer.mixture) return model.ff_width();
  const std::int64_t d_expert = layer.mixture->d_expert.value_or(model.ff_width());
  return name.ends_with("shared.down.weight") ? layer.mixture->n_shared * d_expert : d_expert;
}

/// The parameters as leaves: vectors, but for those of adapters, and what is named .weight and is no norm's.
class Leaves {
 public:
  /// @param layers of a model, whose names begin with "layers.<i>."; or one layer
  explicit Leaves(const Tensors& parameters, const std::vector<ReferenceLayer>& layers) {
    for (const auto& [name, values] : parameters) {
      const auto n = static_cast<std::int64_t>(values.size());
      const bool matrix = (name.ends_with(".weight") && name.find("norm") == std::string::npos) ||
                          name.find(".lora_") != std::string::npos;
      const std::int64_t in = inputs_of(name, layers.at(static_cast<std::size_t>(block_of(name))), n);
      leaves_[name] = matrix ? leaf(values, {n / in, in}, true) : leaf(values, {n}, true);
    }
  }
  /// Undefined if the model has none of that name.
  Tensor operator()(const std::string& name) const {
    const auto found = leaves_.find(name);
    return found == leaves_.end() ? Tensor() : found->second;
  }
  Tensors gradients() const {
    Tensors gradients;
    for (const auto& [name, tensor] : leaves_)
      gradients[name] = tensor.grad().defined() ? values_of(tensor.grad()) : Values(tensor.numel());
    return gradients;
  }

 private:
  std::map<std::string, Tensor> leaves_;
};

View view_of(Tensor& matrix) {
  return {static_cast<std::byte*>(matrix.mutable_data_ptr()), DType::fp64, {matrix.size(0), matrix.size(1)}};
}

struct Context {
  const ReferenceLayer& layer;
  const Leaves& leaves;
  const DropoutKey* dropout;
  const std::vector<std::int32_t>& document_starts;
  Sees sees = sees_causally;
  Tensor* auxiliary_loss = nullptr;  ///< undefined until a layer has one
  const DecoderSpec& model = layer.model;

  /// Positions (B, T), counted from the begin of the document.
  Tensor positions(std::int64_t B) const {
    const std::int64_t T = model.context_length;
    const Tensor places = at::arange(T, at::kLong).repeat({B, 1});
    return document_starts.empty() ? places : places - indices(document_starts).view({B, T});
  }

  /// (B, 1, T, T): which keys are hidden from each query. Those of another document always are.
  Tensor hidden(std::int64_t B, int block) const {
    const std::int64_t T = model.context_length;
    Values hidden_BTT;
    for (std::int64_t sample = 0; sample < B; ++sample)
      for (std::int64_t i = 0; i < T; ++i)
        for (std::int64_t j = 0; j < T; ++j) {
          const std::int64_t start = document_start(sample, i);
          const bool together = document_start(sample, j) == start;
          hidden_BTT.push_back(together && sees(block, i - start, j - start) ? 0 : 1);
        }
    return leaf(hidden_BTT, {B, 1, T, T}, false).to(at::kBool);
  }
  std::int64_t document_start(std::int64_t sample, std::int64_t t) const {
    return document_starts.empty() ? 0 : document_starts[static_cast<std::size_t>(sample * model.context_length + t)];
  }

  Tensor linear_without_bias(const Tensor& x, const std::string& name) const {
    return at::matmul(x, leaves(name + ".weight").t());
  }
  Tensor linear(const Tensor& x, const std::string& name) const {
    Tensor y = linear_without_bias(x, name);
    if (const Tensor a = leaves(name + ".lora_A"); a.defined()) y = y + adapted(x, name, a);
    const Tensor bias = leaves(name + ".bias");
    return bias.defined() ? y + bias : y;
  }
  /// Hu et al. 2021, equation 3, with dropout of x.
  Tensor adapted(const Tensor& x, const std::string& name, const Tensor& a) const {
    const LowRankSpec& spec = *layer.low_rank;
    constexpr const char* targets[]{"attention.q", "attention.k", "attention.v", "attention.out",
                                    "mlp.gate",    "mlp.up",      "mlp.down"};
    std::uint32_t site = 16;
    for (const char* const target : targets) {
      if (name.ends_with(target)) break;
      ++site;
    }
    const double rank = spec.rank, scale = spec.alpha / (spec.rank_stabilised ? std::sqrt(rank) : rank);
    const Tensor read = drop(x, static_cast<std::uint32_t>(block_of(name) + 1), site, spec.dropout);
    return at::matmul(at::matmul(read, a.t()), leaves(name + ".lora_B").t()) * scale;
  }

  /// Over the last dimension.
  Tensor norm(const Tensor& x, const std::string& name) const {
    Tensor y = x;
    if (model.norm.kind == NormKind::layer_norm) y = x - x.mean(-1, true);
    y = y / (y * y).mean(-1, true).add(model.norm.epsilon.value).sqrt();
    const Tensor weight = leaves(name + ".weight");
    y = y * (model.norm.kind == NormKind::zero_centered_rms_norm ? weight + 1 : weight);
    const Tensor bias = leaves(name + ".bias");
    return bias.defined() ? y + bias : y;
  }

  /// @param number of the layer, from 1
  DropoutKey key(std::uint32_t number, std::uint32_t site, double rate) const {
    DropoutKey key = *dropout;
    key.layer = number;
    key.site = site;
    key.rate = rate;
    return key;
  }
  /// Through a mask of 0 and 1 / (1 - rate), which is what our kernel makes of ones.
  Tensor drop(const Tensor& x_MD, std::uint32_t number, std::uint32_t site, double rate) const {
    if (dropout == nullptr || rate == 0) return x_MD;
    Tensor mask = at::ones(x_MD.sizes(), at::kDouble);
    cpu::dropout(cpu::Queue{}, view_of(mask), view_of(mask), key(number, site, rate));
    return x_MD * mask;
  }
  /// The mask of probabilities (B, N, T, T): queries and keys of zeros give each of the n visible keys 1 / n, and
  /// values that are unit vectors show which of them our kernel dropped.
  Tensor attention_mask(std::int64_t B, std::uint32_t number) const {
    const std::int64_t N = model.n_heads, T = model.context_length;
    Tensor zeros = at::zeros({B * T, N * T}, at::kDouble), out = at::zeros_like(zeros),
           lse = at::zeros({B * N, T}, at::kDouble), units = at::eye(T, at::kDouble).repeat({B, N});
    cpu::reference_attention(cpu::Queue{}, view_of(zeros), view_of(zeros), view_of(units), view_of(out), view_of(lse),
                             {B, T, N, N, T, 1}, {}, key(number, 1, model.dropout.attention),
                             document_starts.empty() ? nullptr : document_starts.data());
    const Tensor visible = (positions(B) + 1).view({B, T, 1, 1});
    return (out.view({B, T, N, T}) * visible).transpose(1, 2);
  }
};

Tensor gelu_exact(const Tensor& h) { return h * 0.5 * (1 + at::erf(h / std::numbers::sqrt2)); }
Tensor gelu_tanh(const Tensor& h) {
  const double root_2_over_pi = std::sqrt(2 / std::numbers::pi);
  return h * 0.5 * (1 + at::tanh(root_2_over_pi * (h + 0.044715 * h * h * h)));
}

/// @param h what a gated activation multiplies, if it is one   @param gate called for what it multiplies it by
Tensor activate(Activation activation, const Tensor& h, auto gate) {
  switch (activation) {
    case Activation::gelu_exact:
      return gelu_exact(h);
    case Activation::gelu_tanh:
      return gelu_tanh(h);
    case Activation::relu_squared:
      return at::relu(h) * at::relu(h);
    case Activation::swiglu: {
      const Tensor of_gate = gate();
      return of_gate * at::sigmoid(of_gate) * h;
    }
    case Activation::geglu_exact:
      return gelu_exact(gate()) * h;
    case Activation::geglu_tanh:
      return gelu_tanh(gate()) * h;
  }
  return h;
}

Tensor mlp(const Context& c, const Tensor& x, const std::string& prefix, const std::string& name = "mlp.") {
  const Tensor hidden = activate(c.model.activation, c.linear(x, prefix + name + "up"),
                                 [&] { return c.linear(x, prefix + name + "gate"); });
  return c.linear(hidden, prefix + name + "down");
}

/// Angles (B, 1, T, H/2), with the scaling of the Llama 3.1 release notes' code: the wavelength decides.
Tensor rotary_angles(const DecoderSpec& model, const Tensor& positions_BT) {
  const std::int64_t half = model.head_width() / 2;
  const auto& scaling = model.rotary.scaling;
  Values frequencies;
  for (std::int64_t i = 0; i < half; ++i) {
    double frequency = std::pow(model.rotary.base.value, -static_cast<double>(2 * i) / static_cast<double>(2 * half));
    const double wavelength = 2 * std::numbers::pi / frequency, context = static_cast<double>(scaling.original_context);
    if (wavelength > context / scaling.low_frequency_factor) {
      frequency /= scaling.factor;
    } else if (wavelength >= context / scaling.high_frequency_factor) {
      const double smooth = (context / wavelength - scaling.low_frequency_factor) /
                            (scaling.high_frequency_factor - scaling.low_frequency_factor);
      frequency = (1 - smooth) * frequency / scaling.factor + smooth * frequency;
    }
    frequency /= model.rotary.linear.factor;
    frequencies.push_back(frequency);
  }
  return positions_BT.unsqueeze(1).unsqueeze(3) * leaf(frequencies, {half}, false);
}

/// x (B, heads, T, H): feature i turns with feature i + H/2.
Tensor rotate(const DecoderSpec& model, const Tensor& x, const Tensor& positions_BT) {
  const Tensor angles = rotary_angles(model, positions_BT);
  const std::int64_t half = model.head_width() / 2;
  const Tensor first = x.slice(3, 0, half), second = x.slice(3, half, 2 * half);
  const Tensor cosine = at::cos(angles), sine = at::sin(angles);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

Tensor capped(const Tensor& x, double cap) { return cap > 0 ? at::tanh(x / cap) * cap : x; }

Tensor attention(const Context& c, const Tensor& x, const std::string& prefix, int block) {
  const DecoderSpec& model = c.model;
  const std::int64_t T = model.context_length, H = model.head_width(), N = model.n_heads, KV = model.kv_heads(),
                     B = x.size(0) / T;
  const auto heads = [&](const char* name, std::int64_t n) {
    return c.linear(x, prefix + "attention." + name).view({B, T, n, H}).transpose(1, 2);  // (B, n, T, H)
  };
  Tensor q = heads("q", N), k = heads("k", KV), v = heads("v", KV);
  if (model.qk_norm) {
    q = c.norm(q, prefix + "attention.q_norm");
    k = c.norm(k, prefix + "attention.k_norm");
  }
  if (model.position == Position::rotary) {
    q = rotate(model, q, c.positions(B));
    k = rotate(model, k, c.positions(B));
  }
  k = k.repeat_interleave(N / KV, 1);
  v = v.repeat_interleave(N / KV, 1);
  const double scale = model.multiplier.attention.value_or(1 / std::sqrt(static_cast<double>(H)));
  const Tensor scores = capped(at::matmul(q, k.transpose(2, 3)) * scale, model.soft_cap.scores)
                            .masked_fill(c.hidden(B, block), -infinity);
  Tensor probabilities = at::softmax(scores, -1);
  if (c.dropout != nullptr && model.dropout.attention > 0) {
    probabilities = probabilities * c.attention_mask(B, static_cast<std::uint32_t>(block + 1));
  }
  const Tensor attended = at::matmul(probabilities, v).transpose(1, 2).reshape({B * T, N * H});
  return c.linear(attended, prefix + "attention.out");
}

/// What an expert makes of all tokens, whether they come to it or not.
Tensor expert(const Context& c, const Tensor& x, const std::string& prefix, std::int64_t e) {
  const auto weight = [&](const std::string& name) {
    const Tensor stacked = c.leaves(prefix + "mlp.experts." + name + ".weight");
    const std::int64_t rows = stacked.size(0) / c.layer.mixture->n_experts;
    return stacked.slice(0, e * rows, (e + 1) * rows).t();
  };
  const Tensor hidden =
      activate(c.model.activation, at::matmul(x, weight("up")), [&] { return at::matmul(x, weight("gate")); });
  return at::matmul(hidden, weight("down"));
}

/// 1 for pairs (M, k) of a token and an expert that has room for it: it takes the first ones.
Tensor room(const MixtureSpec& spec, const Tensor& chosen_Mk) {
  Tensor room = at::ones(chosen_Mk.sizes(), at::kDouble);
  if (!spec.capacity_factor.given) return room;
  const double mean = static_cast<double>(chosen_Mk.numel()) / spec.n_experts;
  const auto capacity = static_cast<std::int64_t>(std::ceil(spec.capacity_factor.value * mean));
  std::vector<std::int64_t> taken(static_cast<std::size_t>(spec.n_experts));
  for (std::int64_t m = 0; m < chosen_Mk.size(0); ++m)
    for (std::int64_t j = 0; j < chosen_Mk.size(1); ++j)
      if (++taken[static_cast<std::size_t>(chosen_Mk[m][j].item<std::int64_t>())] > capacity) room[m][j] = 0;
  return room;
}

Tensor mixture(const Context& c, const Tensor& x, const std::string& prefix) {
  const MixtureSpec& spec = *c.layer.mixture;
  const Tensor logits = c.linear_without_bias(x, prefix + "mlp.router");
  const Tensor scores = spec.scores == RouterScores::softmax ? at::softmax(logits, -1) : at::sigmoid(logits);
  const Tensor bias = c.leaves(prefix + "mlp.router.bias");
  const Tensor keys = bias.defined() ? scores + bias : scores;
  const Tensor chosen_Mk = std::get<1>(at::topk(keys.detach(), spec.top_k, -1));
  Tensor weights_Mk = scores.gather(1, chosen_Mk);
  if (spec.normalize) weights_Mk = weights_Mk / weights_Mk.sum(-1, true);
  const Tensor taken_Mk = room(spec, chosen_Mk);

  Tensor y = at::zeros_like(x), balance;
  const Tensor mean_scores_E = (scores / scores.sum(-1, true)).mean(0);
  for (std::int64_t e = 0; e < spec.n_experts; ++e) {
    const Tensor is_chosen_Mk = chosen_Mk.eq(e).to(at::kDouble);
    y = y + (weights_Mk * is_chosen_Mk * taken_Mk).sum(-1, true) * expert(c, x, prefix, e);
    const Tensor of_expert = is_chosen_Mk.sum() / x.size(0) * mean_scores_E[e] * spec.n_experts.value;
    balance = e == 0 ? of_expert : balance + of_expert;
  }
  const Tensor lse = at::logsumexp(logits, -1);
  const Tensor loss = spec.balance_loss.value * balance + spec.z_loss.value * (lse * lse).mean();
  *c.auxiliary_loss = c.auxiliary_loss->defined() ? *c.auxiliary_loss + loss : loss;
  return spec.n_shared > 0 ? y + mlp(c, x, prefix, "mlp.shared.") : y;
}

Tensor block_output(const Context& c, const Tensor& x, const std::string& prefix, int block) {
  const auto layer = static_cast<std::uint32_t>(block + 1);
  const double rate = c.model.dropout.residual;
  const auto attend = [&](const Tensor& in) { return attention(c, in, prefix, block); };
  const auto feed = [&](const Tensor& in) { return c.layer.mixture ? mixture(c, in, prefix) : mlp(c, in, prefix); };
  const auto drop = [&](const Tensor& result, std::uint32_t site) { return c.drop(result, layer, site, rate); };
  switch (c.layer.order) {
    case BlockOrder::pre_norm: {
      const Tensor middle = x + drop(attend(c.norm(x, prefix + "attention_norm")), 2);
      return middle + drop(feed(c.norm(middle, prefix + "mlp_norm")), 3);
    }
    case BlockOrder::post_norm: {
      const Tensor middle = c.norm(x + drop(attend(x), 2), prefix + "attention_norm");
      return c.norm(middle + drop(feed(middle), 3), prefix + "mlp_norm");
    }
    case BlockOrder::sandwich_norm: {
      const Tensor attended = c.norm(attend(c.norm(x, prefix + "attention_norm")), prefix + "attention_post_norm");
      const Tensor middle = x + drop(attended, 2);
      return middle + drop(c.norm(feed(c.norm(middle, prefix + "mlp_norm")), prefix + "mlp_post_norm"), 3);
    }
    case BlockOrder::normed_residual: {
      const Tensor in = c.norm(x, prefix + "attention_norm");
      const Tensor middle = c.norm(in + drop(attend(in), 2), prefix + "mlp_norm");
      return middle + drop(feed(middle), 3);
    }
    case BlockOrder::parallel: {
      const Tensor in = c.norm(x, prefix + "norm");
      return x + drop(attend(in), 2) + drop(feed(in), 3);
    }
  }
  return x;
}

Tensor embedded(const Context& c, const std::vector<std::int32_t>& ids) {
  const std::int64_t M = static_cast<std::int64_t>(ids.size()), T = c.model.context_length;
  Tensor x = c.leaves("embedding.weight").index_select(0, indices(ids)) * c.model.multiplier.embedding.value;
  if (c.model.position == Position::learned)
    x = x + c.leaves("position_embedding.weight").index_select(0, c.positions(M / T).view({M}));
  return c.drop(x, 0, 0, c.model.dropout.embedding);
}

}  // namespace

namespace {

std::vector<ReferenceLayer> layers_of(const DecoderSpec& model, const ReferenceBatch& batch) {
  std::vector<ReferenceLayer> layers = batch.layers;
  layers.resize(static_cast<std::size_t>(model.n_layers), {model});
  return layers;
}

Tensor logits_of(const DecoderSpec& model, const Leaves& leaves, const ReferenceBatch& batch, Tensor& auxiliary_loss) {
  const std::vector<ReferenceLayer> layers = layers_of(model, batch);
  const ReferenceLayer whole{model};
  const Context c{whole, leaves, batch.dropout, batch.document_starts, batch.sees};
  Tensor x = embedded(c, batch.ids);
  for (int block = 0; block < model.n_layers; ++block)
    x = block_output({layers[static_cast<std::size_t>(block)], leaves, batch.dropout, batch.document_starts, batch.sees,
                      &auxiliary_loss},
                     x, "layers." + std::to_string(block) + ".", block);
  x = c.norm(x, "final_norm");
  const Tensor logits = at::matmul(x, leaves(model.tied_head ? "embedding.weight" : "head.weight").t());
  return capped(logits, model.soft_cap.logits);
}

/// Of each target, 0 where there is none.
Tensor log_probabilities_of(const Tensor& logits, std::vector<std::int32_t> targets) {
  Values counted;
  for (std::int32_t& target : targets) {
    counted.push_back(target == ignored_target ? 0 : 1);
    if (target == ignored_target) target = 0;
  }
  const Tensor all = at::log_softmax(logits, -1).gather(1, indices(targets).unsqueeze(1)).squeeze(1);
  return all * leaf(counted, {static_cast<std::int64_t>(targets.size())}, false);
}

}  // namespace

namespace {

/// The sum over the counted tokens.
Tensor loss_of(const Tensor& logits, const std::vector<std::int32_t>& targets, const ReferenceTerms& terms) {
  const Tensor log_p = log_probabilities_of(logits, targets), counts = indices(targets).ne(ignored_target);
  Tensor losses = -log_p;
  if (terms.focal_gamma > 0) losses = losses * (1 - log_p.exp()).pow(terms.focal_gamma);
  if (terms.label_smoothing > 0)
    losses =
        (1 - terms.label_smoothing) * losses - terms.label_smoothing * at::log_softmax(logits, -1).mean(-1) * counts;
  if (terms.z_loss > 0) losses = losses + terms.z_loss * at::logsumexp(logits, -1).square() * counts;
  return losses.sum();
}

}  // namespace

ReferenceResult reference_model(const DecoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch) {
  const Leaves leaves(parameters, layers_of(model, batch));
  Tensor auxiliary_loss;
  const Tensor logits = logits_of(model, leaves, batch, auxiliary_loss);
  const Tensor loss = loss_of(logits, batch.targets, batch.terms);
  const auto n_counted =
      static_cast<double>(std::ssize(batch.targets) - std::ranges::count(batch.targets, ignored_target));
  (auxiliary_loss.defined() ? loss + auxiliary_loss * n_counted : loss).backward();
  return {loss.item<double>(), values_of(logits), auxiliary_loss.defined() ? auxiliary_loss.item<double>() : 0,
          leaves.gradients()};
}

ReferenceHead reference_head_of_bf16_logits(const Values& x, const Values& weight,
                                            const std::vector<std::int32_t>& targets) {
  const auto tokens = std::ssize(targets), width = std::ssize(x) / tokens;
  const Tensor w = leaf(weight, {std::ssize(weight) / width, width}, true);
  const Tensor logits = at::matmul(leaf(x, {tokens, width}, false), w.t()).to(at::kBFloat16).to(at::kDouble);
  const Tensor loss = -log_probabilities_of(logits, targets).sum();
  loss.backward();
  return {loss.item<double>(), values_of(w.grad())};
}

ReferencePreferences reference_preferences(const DecoderSpec& model, const Tensors& parameters,
                                           const ReferenceBatch& batch, const ReferencePreference& preference) {
  const Leaves leaves(parameters, layers_of(model, batch));
  Tensor auxiliary_loss;
  const Tensor of_targets = log_probabilities_of(logits_of(model, leaves, batch, auxiliary_loss), batch.targets);
  const std::int64_t T = model.context_length, samples = of_targets.size(0) / T;
  // Sums by sample and sequence are products with zeros and ones.
  Values belongs(static_cast<std::size_t>(2 * samples * samples * T)), tokens(static_cast<std::size_t>(2 * samples));
  for (std::int64_t i = 0; i < samples * T; ++i) {
    std::int64_t document = -1;
    for (std::int64_t j = i / T * T; j <= i; ++j)
      if (batch.document_starts[static_cast<std::size_t>(j)] == j % T) ++document;
    if (document > 1 || batch.targets[static_cast<std::size_t>(i)] == ignored_target) continue;
    const std::int64_t sequence = 2 * (i / T) + document;
    belongs[static_cast<std::size_t>(sequence * samples * T + i)] = 1;
    ++tokens[static_cast<std::size_t>(sequence)];
  }
  const Tensor sums = at::matmul(leaf(belongs, {2 * samples, samples * T}, false), of_targets);
  const Tensor ratios = sums - leaf(preference.log_probabilities, {2 * samples}, false),
               per_token = ratios / leaf(tokens, {2 * samples}, false).clamp_min(1);
  ReferencePreferences result{.log_probabilities = values_of(sums), .gradients = {}};
  Tensor loss = at::zeros({}, at::kDouble);
  for (std::int64_t i = 0; i < samples; ++i) {
    if (tokens[static_cast<std::size_t>(2 * i)] == 0 || tokens[static_cast<std::size_t>(2 * i + 1)] == 0) continue;
    const double beta = preference.beta, wrong = preference.label_smoothing;
    const Tensor margin = beta * (ratios[2 * i] - ratios[2 * i + 1]);
    const Tensor difference = per_token[2 * i] - per_token[2 * i + 1];
    const auto squared = [&](const Tensor& of) { return (of - 1 / (2 * beta)).pow(2); };
    loss = loss + (preference.squared ? (1 - wrong) * squared(difference) + wrong * squared(-difference)
                                      : -(1 - wrong) * at::log_sigmoid(margin) - wrong * at::log_sigmoid(-margin));
    const double chosen = beta * ratios[2 * i].item<double>(), rejected = beta * ratios[2 * i + 1].item<double>();
    const std::array<double, 4> of_pair{chosen > rejected ? 1.0 : 0.0, chosen - rejected, chosen, rejected};
    for (std::size_t k = 0; k < of_pair.size(); ++k) result.metrics[k] += of_pair[k];
  }
  loss.backward();
  result.loss = loss.item<double>();
  result.gradients = leaves.gradients();
  return result;
}

ReferenceDistilled reference_distillation(const DecoderSpec& model, const Tensors& parameters,
                                          const ReferenceBatch& batch, const ReferenceTeacher& teacher) {
  const Leaves leaves(parameters, layers_of(model, batch));
  Tensor auxiliary_loss;
  const Tensor z = logits_of(model, leaves, batch, auxiliary_loss).narrow(1, 0, model.vocab_size);
  const std::int64_t tokens = z.size(0);
  const Tensor u = leaf(teacher.logits, {tokens, model.vocab_size}, false);
  const Tensor counts = indices(batch.targets).ne(ignored_target).to(at::kDouble);
  const double temperature = teacher.temperature, weight = teacher.teacher_weight;
  const Tensor q = at::log_softmax(z / temperature, -1), p = at::log_softmax(u / temperature, -1);
  // The mean of the differences of logarithms from those of another distribution.
  const auto apart = [](const Tensor& of, const Tensor& from) { return (of.exp() * (of - from)).sum(-1); };
  const Tensor middle = ((p.exp() + q.exp()) / 2).log();
  const Tensor divergence = teacher.divergence == "forward_kl"   ? apart(p, q)
                            : teacher.divergence == "reverse_kl" ? apart(q, p)
                                                                 : (apart(p, middle) + apart(q, middle)) / 2;
  const Tensor hard = -log_probabilities_of(z, batch.targets).sum(), soft = (divergence * counts).sum();
  const Tensor loss = (1 - weight) * hard + weight * temperature * temperature * soft;
  loss.backward();
  return {loss.item<double>(),
          {hard.item<double>(), soft.item<double>(), -log_probabilities_of(u, batch.targets).sum().item<double>(),
           (z.argmax(-1).eq(u.argmax(-1)) * counts).sum().item<double>()},
          leaves.gradients()};
}

namespace {

/// What the pooling makes of the tokens of each text, (samples · 2, D), and which samples have both texts.
std::pair<Tensor, std::vector<std::int64_t>> pooled_texts(const EncoderSpec& model, const Tensor& x,
                                                          const std::vector<std::int32_t>& text_of) {
  const std::int64_t T = model.context_length, samples = x.size(0) / T;
  std::vector<Tensor> rows;
  std::vector<std::int64_t> whole;
  for (std::int64_t row = 0; row < 2 * samples; ++row) {
    std::vector<Tensor> tokens;
    for (std::int64_t t = row / 2 * T; t < (row / 2 + 1) * T; ++t)
      if (text_of[static_cast<std::size_t>(t)] == row % 2) tokens.push_back(x.slice(0, t, t + 1));
    if (tokens.empty()) {
      rows.push_back(at::zeros({1, x.size(1)}, at::kDouble));
    } else if (model.pooling == Pooling::mean) {
      rows.push_back(at::cat(tokens).mean(0, true));
    } else {
      rows.push_back(model.pooling == Pooling::first ? tokens.front() : tokens.back());
    }
    const bool is_whole = row % 2 == 1 && !tokens.empty() && rows[rows.size() - 2].abs().sum().item<double>() > 0;
    if (is_whole) whole.push_back(row / 2);
  }
  return {at::cat(rows), whole};
}

/// Of finding the columns from the rows.
Tensor in_one_direction(const Tensor& similarities) { return -at::log_softmax(similarities, 1).diagonal().sum(); }

/// Two texts of each whole pair, to a loss and a metric.
using LossOfPairs = std::function<std::pair<Tensor, Tensor>(const Tensor& first, const Tensor& second)>;

ReferencePairs reference_of_pairs(const EncoderSpec& encoder, const Tensors& parameters, const ReferenceBatch& batch,
                                  const LossOfPairs& loss_of) {
  const ReferenceLayer trunk{encoder.trunk()};
  const DecoderSpec& model = trunk.model;
  const Leaves leaves(parameters, std::vector<ReferenceLayer>(static_cast<std::size_t>(model.n_layers), trunk));
  const Context c{trunk, leaves, batch.dropout, batch.document_starts, batch.sees};
  Tensor x = embedded(c, batch.ids);
  for (int block = 0; block < model.n_layers; ++block)
    x = block_output(c, x, "layers." + std::to_string(block) + ".", block);
  auto [texts, whole] = pooled_texts(encoder, c.norm(x, "final_norm"), batch.targets);
  if (encoder.d_embedding.given) texts = at::matmul(texts, leaves("projection.weight").t());
  if (encoder.unit_length) texts = texts / (texts * texts).sum(-1, true).add(1e-300).sqrt();
  const Tensor pairs = texts.view({-1, 2, texts.size(1)});
  const Tensor places = at::from_blob(whole.data(), {static_cast<std::int64_t>(whole.size())}, at::kLong);
  const auto [loss, metric] =
      loss_of(pairs.select(1, 0).index_select(0, places), pairs.select(1, 1).index_select(0, places));
  loss.backward();
  return {loss.item<double>(), metric.to(at::kDouble).item<double>(), values_of(texts), leaves.gradients()};
}

}  // namespace

ReferencePairs reference_pairs(const EncoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch,
                               double temperature, bool symmetric) {
  return reference_of_pairs(model, parameters, batch, [&](const Tensor& first, const Tensor& second) {
    const Tensor similarities = at::matmul(first, second.t()) / temperature;
    Tensor loss = in_one_direction(similarities);
    if (symmetric) loss = 0.5 * (loss + in_one_direction(similarities.t()));
    const Tensor as_near = similarities >= similarities.diagonal().unsqueeze(1);
    return std::pair(loss, as_near.sum(1).eq(1).sum());
  });
}

ReferencePairs reference_margin_pairs(const EncoderSpec& model, const Tensors& parameters, const ReferenceBatch& batch,
                                      double margin) {
  return reference_of_pairs(model, parameters, batch, [&](const Tensor& first, const Tensor& second) {
    const Tensor products = at::matmul(first, second.t());
    const Tensor of_others = 1 - at::eye(products.size(0), at::kDouble);
    const Tensor excess = (margin + products - products.diagonal().unsqueeze(1)) * of_others;
    return std::pair(at::relu(excess).sum(), (excess > 0).sum());
  });
}

ReferenceBlock reference_block(const ReferenceLayer& layer, int block, const Tensors& parameters, const Values& x,
                               const Values& dy, const DropoutKey* dropout,
                               const std::vector<std::int32_t>& document_starts, double counted_tokens) {
  const Leaves leaves(parameters, {layer});
  const std::int64_t D = layer.model.d_model, M = static_cast<std::int64_t>(x.size()) / D;
  const Tensor input = leaf(x, {M, D}, true);
  Tensor auxiliary_loss;
  const Tensor output =
      block_output({layer, leaves, dropout, document_starts, sees_causally, &auxiliary_loss}, input, "", block);
  const Tensor of_output = (output * leaf(dy, {M, D}, false)).sum();
  (auxiliary_loss.defined() ? of_output + auxiliary_loss * counted_tokens : of_output).backward();
  return {values_of(output), values_of(input.grad()), auxiliary_loss.defined() ? auxiliary_loss.item<double>() : 0,
          leaves.gradients()};
}

}  // namespace monomorph::testing
