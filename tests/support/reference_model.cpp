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
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
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

/// The parameters as leaves: vectors, but for what is named .weight and is no norm's.
class Leaves {
 public:
  explicit Leaves(const Tensors& parameters, const ModelSpec& model) {
    for (const auto& [name, values] : parameters) {
      const auto n = static_cast<std::int64_t>(values.size());
      const bool matrix = name.ends_with(".weight") && name.find("norm") == std::string::npos;
      const std::int64_t in = name.ends_with("out.weight")    ? model.q_width()
                              : name.ends_with("down.weight") ? model.ff_width()
                                                              : model.d_model.value;
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
  const ModelSpec& model;
  const Leaves& leaves;
  const kernels::DropoutKey* dropout;
  const std::vector<std::int32_t>& document_starts;
  Sees sees = sees_causally;

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

  Tensor linear(const Tensor& x, const std::string& name) const {
    const Tensor y = at::matmul(x, leaves(name + ".weight").t()), bias = leaves(name + ".bias");
    return bias.defined() ? y + bias : y;
  }

  /// Over the last dimension.
  Tensor norm(const Tensor& x, const std::string& name) const {
    Tensor y = x;
    if (model.norm.kind == NormKind::layer_norm) y = x - x.mean(-1, true);
    y = y / (y * y).mean(-1, true).add(model.norm.epsilon.value).sqrt();
    y = y * leaves(name + ".weight");
    const Tensor bias = leaves(name + ".bias");
    return bias.defined() ? y + bias : y;
  }

  kernels::DropoutKey key(std::uint32_t layer, std::uint32_t site, double rate) const {
    kernels::DropoutKey key = *dropout;
    key.layer = layer;
    key.site = site;
    key.rate = rate;
    return key;
  }
  /// Through a mask of 0 and 1 / (1 - rate), which is what our kernel makes of ones.
  Tensor drop(const Tensor& x_MD, std::uint32_t layer, std::uint32_t site, double rate) const {
    if (dropout == nullptr || rate == 0) return x_MD;
    Tensor mask = at::ones(x_MD.sizes(), at::kDouble);
    kernels::dropout(view_of(mask), view_of(mask), key(layer, site, rate));
    return x_MD * mask;
  }
  /// The mask of probabilities (B, N, T, T): queries and keys of zeros give each of the n visible keys 1 / n, and
  /// values that are unit vectors show which of them our kernel dropped.
  Tensor attention_mask(std::int64_t B, std::uint32_t layer) const {
    const std::int64_t N = model.n_heads, T = model.context_length;
    Tensor zeros = at::zeros({B * T, N * T}, at::kDouble), out = at::zeros_like(zeros),
           lse = at::zeros({B * N, T}, at::kDouble), units = at::eye(T, at::kDouble).repeat({B, N});
    kernels::reference_attention(view_of(zeros), view_of(zeros), view_of(units), view_of(out), view_of(lse),
                                 {B, T, N, N, T, 1}, {}, key(layer, 1, model.dropout.attention),
                                 document_starts.empty() ? nullptr : document_starts.data());
    const Tensor visible = (positions(B) + 1).view({B, T, 1, 1});
    return (out.view({B, T, N, T}) * visible).transpose(1, 2);
  }
};

Tensor activate(const ModelSpec& model, const Tensor& h) {
  const double root_2_over_pi = std::sqrt(2 / std::numbers::pi);
  switch (model.activation) {
    case Activation::gelu_exact:
      return h * 0.5 * (1 + at::erf(h / std::numbers::sqrt2));
    case Activation::gelu_tanh:
      return h * 0.5 * (1 + at::tanh(root_2_over_pi * (h + 0.044715 * h * h * h)));
    case Activation::relu_squared:
      return at::relu(h) * at::relu(h);
    case Activation::swiglu:
      break;
  }
  return h;  // gated: see mlp()
}

Tensor mlp(const Context& c, const Tensor& x, const std::string& prefix) {
  Tensor hidden = c.linear(x, prefix + "mlp.up");
  if (c.model.activation == Activation::swiglu) {
    const Tensor gate = c.linear(x, prefix + "mlp.gate");
    hidden = gate * at::sigmoid(gate) * hidden;
  } else {
    hidden = activate(c.model, hidden);
  }
  return c.linear(hidden, prefix + "mlp.down");
}

/// Angles (B, 1, T, H/2), with the scaling of the Llama 3.1 release notes' code: the wavelength decides.
Tensor rotary_angles(const ModelSpec& model, const Tensor& positions_BT) {
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
    frequencies.push_back(frequency);
  }
  return positions_BT.unsqueeze(1).unsqueeze(3) * leaf(frequencies, {half}, false);
}

/// x (B, heads, T, H): feature i turns with feature i + H/2.
Tensor rotate(const ModelSpec& model, const Tensor& x, const Tensor& positions_BT) {
  const Tensor angles = rotary_angles(model, positions_BT);
  const std::int64_t half = model.head_width() / 2;
  const Tensor first = x.slice(3, 0, half), second = x.slice(3, half, 2 * half);
  const Tensor cosine = at::cos(angles), sine = at::sin(angles);
  return at::cat({first * cosine - second * sine, second * cosine + first * sine}, 3);
}

Tensor attention(const Context& c, const Tensor& x, const std::string& prefix, int block) {
  const ModelSpec& model = c.model;
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
  const Tensor scores =
      (at::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(H))).masked_fill(c.hidden(B, block), -infinity);
  Tensor probabilities = at::softmax(scores, -1);
  if (c.dropout != nullptr && model.dropout.attention > 0) {
    probabilities = probabilities * c.attention_mask(B, static_cast<std::uint32_t>(block + 1));
  }
  const Tensor attended = at::matmul(probabilities, v).transpose(1, 2).reshape({B * T, N * H});
  return c.linear(attended, prefix + "attention.out");
}

Tensor block_output(const Context& c, const Tensor& x, const std::string& prefix, int block) {
  const auto layer = static_cast<std::uint32_t>(block + 1);
  const double rate = c.model.dropout.residual;
  const Tensor middle = x + c.drop(attention(c, c.norm(x, prefix + "attention_norm"), prefix, block), layer, 2, rate);
  return middle + c.drop(mlp(c, c.norm(middle, prefix + "mlp_norm"), prefix), layer, 3, rate);
}

Tensor embedded(const Context& c, const std::vector<std::int32_t>& ids) {
  const std::int64_t M = static_cast<std::int64_t>(ids.size()), T = c.model.context_length;
  Tensor x = c.leaves("embedding.weight").index_select(0, indices(ids));
  if (c.model.position == Position::learned)
    x = x + c.leaves("position_embedding.weight").index_select(0, c.positions(M / T).view({M}));
  return c.drop(x, 0, 0, c.model.dropout.embedding);
}

}  // namespace

ReferenceResult reference_model(const ModelSpec& model, const Tensors& parameters, const ReferenceBatch& batch) {
  const Leaves leaves(parameters, model);
  const Context c{model, leaves, batch.dropout, batch.document_starts, batch.sees};
  Tensor x = embedded(c, batch.ids);
  for (int block = 0; block < model.n_layers; ++block)
    x = block_output(c, x, "layers." + std::to_string(block) + ".", block);
  x = c.norm(x, "final_norm");
  const Tensor logits = at::matmul(x, leaves(model.tied_head ? "embedding.weight" : "head.weight").t());

  Values counted;
  std::vector<std::int32_t> targets = batch.targets;
  for (std::int32_t& target : targets) {
    counted.push_back(target == ignored_target ? 0 : 1);
    if (target == ignored_target) target = 0;
  }
  const auto M = static_cast<std::int64_t>(targets.size());
  const Tensor logprobs = at::log_softmax(logits, -1).gather(1, indices(targets).unsqueeze(1)).squeeze(1);
  const Tensor loss = -(logprobs * leaf(counted, {M}, false)).sum();
  loss.backward();
  return {loss.item<double>(), values_of(logits), leaves.gradients()};
}

ReferenceBlock reference_block(const ModelSpec& model, int block, const Tensors& parameters, const Values& x,
                               const Values& dy, const kernels::DropoutKey* dropout,
                               const std::vector<std::int32_t>& document_starts) {
  const Leaves leaves(parameters, model);
  const std::int64_t D = model.d_model, M = static_cast<std::int64_t>(x.size()) / D;
  const Tensor input = leaf(x, {M, D}, true);
  const Tensor output = block_output({model, leaves, dropout, document_starts}, input, "", block);
  (output * leaf(dy, {M, D}, false)).sum().backward();
  return {values_of(output), values_of(input.grad()), leaves.gradients()};
}

}  // namespace monomorph::testing
