#include "numerics/block_check.hpp"
#include "numerics/block_recipes.hpp"
#include "support/catch.hpp"
#include "support/reference_model.hpp"

#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>

#include <bit>
#include <limits>

namespace monomorph::testing {
namespace {

constexpr double tolerance = 1e-9;
constexpr std::int64_t counted_tokens = 3;

/// Uniform in ± half a width around the mean.
Values uniform(std::int64_t n, std::uint32_t site, double mean, double width) {
  Values values;
  const random::Stream stream{5, random::Purpose::sampling, 0, site};
  for (std::int64_t i = 0; i < n; ++i)
    values.push_back(mean + width * (random::uniform(stream, static_cast<std::uint64_t>(i)) - 0.5));
  return values;
}

Tensors random_parameters(const ParameterLayout& layout) {
  Tensors parameters;
  std::uint32_t site = 10;
  for (const TensorInfo& tensor : layout)
    parameters[std::string(tensor.name)] = uniform(tensor.slice.shape.elements(), ++site, tensor.initializer.mean, 0.5);
  return parameters;
}

/// Memory of the block under test; NaN until something is written, so that what is read too early shows.
class Buffer {
 public:
  explicit Buffer(std::int64_t elements)
      : values_(static_cast<std::size_t>(elements), std::numeric_limits<double>::quiet_NaN()) {}
  View view() { return matrix({1, static_cast<std::int64_t>(values_.size())}); }
  View matrix(Shape shape) { return {reinterpret_cast<std::byte*>(values_.data()), DType::fp64, shape}; }

 private:
  Values values_;
};

struct BlockRun {
  const BlockCase& block;
  const DecoderSpec& model = block.layer.model;
  std::int64_t T = model.context_length, M = block_batch * T, D = model.d_model;
  Tensors parameters = random_parameters(block.parameters);
  Values x = uniform(M * D, 1, 0, 4), dy = uniform(M * D, 2, 0, 2);
  DropoutKey key{.seed = 11, .step = 3, .first_sample = 6, .tokens_per_sample = T};

  Buffer params{block.parameters.elements}, gradients{block.parameters.elements}, x_MD{M * D}, y_MD{M * D},
      dx_MD{M * D}, activations{block.activations}, statistics{block.statistics}, cosines{T * model.head_width() / 2},
      sines{T * model.head_width() / 2};

  double auxiliary_loss = 0;
  StepScalars scalars{};
  std::vector<std::int32_t> document_starts = {};  ///< none: rows are one document each

  /// Cuts the rows: the first in its middle, at the next token and somewhere before; the second elsewhere.
  void cut_into_documents() {
    for (std::int64_t m = 0; m < M; ++m) {
      const std::int64_t t = m % T;
      const bool begins = m < T ? t == T / 5 || t == T / 2 || t == T / 2 + 1 : t == T / 3 || t == T - T / 4;
      const bool first = t == 0 || begins;
      document_starts.push_back(first ? static_cast<std::int32_t>(t) : document_starts.back());
    }
  }

  TensorsOn<cpu::Queue> tensors(bool accumulate) {
    const Shape MD{M, D}, TH{T, model.head_width() / 2};
    TensorsOn<cpu::Queue> t{};
    t.block = 0;
    t.params = params.view();
    t.gradients = gradients.view();
    t.x_MD = x_MD.matrix(MD);
    t.y_MD = y_MD.matrix(MD);
    t.dx_MD = dx_MD.matrix(MD);
    t.activations = activations.view();
    t.statistics = statistics.view();
    t.temporary_offset = block.temporary_offset;
    if (model.position == Position::rotary) {
      t.rotary_cos_TH = cosines.matrix(TH);
      t.rotary_sin_TH = sines.matrix(TH);
      cpu::rotary_table(cpu::Queue{}, model.rotary, t.rotary_cos_TH, t.rotary_sin_TH);
    }
    t.batch = block_batch;
    t.tokens = T;
    t.document_starts = document_starts.empty() ? nullptr : document_starts.data();
    t.dropout = key;
    t.training = true;
    t.accumulate = accumulate;
    scalars.micro_batch.tokens = counted_tokens;
    t.scalars = &scalars;
    return t;
  }

  void run(TensorsOn<cpu::Queue> t) {
    assign(t.x_MD, x);
    auxiliary_loss = 0;
    t.auxiliary_loss = &auxiliary_loss;
    block.forward(t);
    t.auxiliary_loss = nullptr;
    assign(t.dx_MD, dy);
    block.backward(t);
  }
  Tensors gradient_values(double factor) {
    Tensors values;
    for (const TensorInfo& tensor : block.parameters) {
      Values& gradient = values[std::string(tensor.name)] = values_of(gradients.view()[tensor.slice]);
      for (double& element : gradient) element *= factor;
    }
    return values;
  }
};

std::string describe(const ReferenceLayer& layer) {
  const DecoderSpec& model = layer.model;
  std::string text = "norm " + std::to_string(static_cast<int>(model.norm.kind.value));
  text += " norm bias " + std::to_string(model.norm.bias) + ", qk_norm " + std::to_string(model.qk_norm);
  text += ", rotary " + std::to_string(model.position == Position::rotary) + " factor ";
  text += std::to_string(model.rotary.scaling.factor) + ", kv heads " + std::to_string(model.kv_heads());
  text += ", qkv bias " + std::to_string(model.bias.qkv) + ", out bias " + std::to_string(model.bias.attention_out);
  text += ", activation " + std::to_string(static_cast<int>(model.activation.value)) + ", mlp bias ";
  text += std::to_string(model.bias.mlp) + ", reference " +
          std::to_string(model.attention_kernel == AttentionKernel::reference);
  text += ", dropout " + std::to_string(model.dropout.residual) + " " + std::to_string(model.dropout.attention);
  text += ", T " + std::to_string(model.context_length.value);
  text += ", order " + std::to_string(static_cast<int>(layer.order));
  if (!layer.mixture) return text;
  const MixtureSpec& mixture = *layer.mixture;
  text += ", experts " + std::to_string(mixture.n_experts.value) + " top " + std::to_string(mixture.top_k.value);
  text += " capacity " + std::to_string(mixture.capacity_factor.value_or(0)) + ", shared ";
  text += std::to_string(mixture.n_shared.value) + ", sigmoid ";
  text += std::to_string(mixture.scores == RouterScores::sigmoid) + ", normalize ";
  text += std::to_string(mixture.normalize.value) + ", balance " + std::to_string(mixture.balance_loss.value);
  return text + " z " + std::to_string(mixture.z_loss.value) + " bias " + std::to_string(mixture.bias_rate.value);
}

void check_run(BlockRun& run) {
  const BlockCase& block = run.block;
  for (const TensorInfo& tensor : block.parameters)
    assign(run.params.view()[tensor.slice], run.parameters.at(std::string(tensor.name)));
  const bool drops = run.model.dropout.residual > 0 || run.model.dropout.attention > 0 ||
                     (block.layer.low_rank && block.layer.low_rank->dropout > 0);
  ReferenceBlock expected = reference_block(block.layer, 0, run.parameters, run.x, run.dy, drops ? &run.key : nullptr,
                                            run.document_starts, counted_tokens);
  expected.gradients.erase("mlp.router.bias");  // state: no gradient

  for (const bool accumulate : {false, true}) {  // the second time gradients double
    const TensorsOn<cpu::Queue> t = run.tensors(accumulate);
    run.run(t);
    CHECK(relative_error(values_of(t.y_MD), expected.y) < tolerance);
    CHECK(relative_error(values_of(t.dx_MD), expected.dx) < tolerance);
    CHECK(run.auxiliary_loss == Approx(expected.auxiliary_loss).epsilon(tolerance).margin(0));
    Tensors gradients = run.gradient_values(accumulate ? 0.5 : 1);
    if (const auto state = gradients.extract("mlp.router.bias")) CHECK(state.mapped() == Values(state.mapped().size()));
    const Difference worst = worst_difference(gradients, expected.gradients);
    INFO(worst.name);
    CHECK(worst.error < tolerance);
  }
}

}  // namespace

void check_block(const BlockCase& block) {
  INFO(describe(block.layer));
  for (const bool cut : {false, true}) {
    INFO((cut ? "several documents a row" : "a document a row"));
    BlockRun run{block};
    if (cut) run.cut_into_documents();
    check_run(run);
  }
}

TEST_CASE("each norm meets every combination of the MLP's options") {
  unsigned seen = 0;
  for (int attention = 0; attention < block_attentions; ++attention) seen |= 1u << block_mlp(attention);
  CHECK(std::popcount(seen) == block_mlps);
}

}  // namespace monomorph::testing
