// Products in fp8 (precision::Fp8Mixed) against PyTorch's float8 dtypes (tests/fixtures/fp8), and what follows from the
// history of maxima being state: resumed bit for bit, and the same with activations computed again.
#include "numerics/low_rank_recipes.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/plain_rotary.hpp"
#include "support/recording_device.hpp"
#include "support/tensors.hpp"

#include <monomorph/optim/sgd.hpp>
#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

namespace monomorph::testing {
namespace {

constexpr std::int64_t B = 2, T = 16, V = 23, micro_batches = 2;
constexpr int updates = 3;

struct Fp8 : precision::Fp8Mixed {
  static constexpr int amax_history = updates;
};
struct Decoder : gpt2_like {
  static constexpr DecoderSpec model{
      .vocab_size = V, .n_layers = 2, .n_heads = 2, .d_model = 32, .context_length = T, .d_ff = 64};
  using sharding = monomorph::sharding::Replicate;
  using precision = Fp8;
  using optimizer = optim::Sgd;
};
/// Of a rank that is no multiple of 16, beside every product.
using AdaptedDecoder = Adapted<Decoder, LowRankSpec{.rank = 3, .alpha = 0.75, .targets = but_gate}>;

nlohmann::json fixture(const std::string& name) {
  std::ifstream file(MONOMORPH_SOURCE_DIR "/tests/fixtures/fp8/" + name);
  return nlohmann::json::parse(file);
}

bool is_history(const std::string& name) { return name.ends_with("amax_history"); }

/// As the fixture's script begins. Histories are no parameters, and begin with zeros.
Tensors initial(const std::vector<train::StateTensor>& parameters) {
  Tensors tensors = values_of(parameters);
  double number = 0;
  for (auto& [name, values] : tensors) {
    if (is_history(name)) continue;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3 * std::sin(1.7 * static_cast<double>(i) + number) + (name.ends_with("norm.weight") ? 1 : 0);
    ++number;
  }
  return tensors;
}

struct Rows {
  std::vector<std::int32_t> inputs, targets;
};
Rows rows(std::int64_t first) {
  Rows rows;
  const auto token = [](std::int64_t n, std::int64_t t) {
    return static_cast<std::int32_t>((5 * n + 3 * t + n * t) % V);
  };
  for (std::int64_t n = first; n < first + B; ++n)
    for (std::int64_t t = 0; t < T; ++t) rows.inputs.push_back(token(n, t)), rows.targets.push_back(token(n, t + 1));
  return rows;
}

PolicyHparams sgd_hparams(double lr) {
  auto hparams = PolicyHparams::of<optim::Sgd::Hparams>();
  auto& sgd = hparams.as<optim::Sgd::Hparams>();
  sgd.lr.value = lr;
  sgd.momentum.value = 0;
  sgd.weight_decay.value = 0;
  return hparams;
}

/// Both micro-batches of a step.   @return the mean loss
double accumulate_step(train::TrainingStep& step, std::int64_t number) {
  double loss = 0;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const Rows of_batch = rows((number * micro_batches + i) * B);
    const train::MicroBatch batch{of_batch.inputs.data(), of_batch.targets.data(), 0};
    loss += accumulate(step, batch, static_cast<std::uint64_t>(number), {.index = i, .count = micro_batches}).loss;
  }
  return loss / static_cast<double>(micro_batches * B * T);
}
StepOutcome end_step(train::TrainingStep& step, const StepSettings& settings = {}, double lr = 5e-4) {
  const StepOutcome outcome = step.read(step.decide(settings));
  step.update(sgd_hparams(lr), {});
  return outcome;
}

template <Recipe R> struct Training {
  std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step{*communicator, B, 3};
  Training() {
    assign(step.parameters(), initial(step.parameters()));
    step.parameters_changed();
  }
  double take_step(std::int64_t number) {
    const double loss = accumulate_step(step, number);
    end_step(step);
    return loss;
  }
};

/// The last maximum of each tensor, by the fixture's names.
std::map<std::string, double> last_maxima(const Tensors& parameters, int n_updates) {
  constexpr const char* names[2][2] = {{"qkv", "out"}, {"up", "down"}};
  constexpr const char* tensors[] = {"x", "w", "dy"};
  std::map<std::string, double> maxima;
  for (int block = 0; block < 2; ++block)
    for (int part = 0; part < 2; ++part) {
      const std::string at = "layers." + std::to_string(block) + ".";
      const Values& history = parameters.at(at + (part == 0 ? "attention" : "mlp") + ".amax_history");
      REQUIRE(history.size() == 6 * updates);
      for (std::size_t row = 0; row < 6; ++row)
        maxima[at + names[part][row / 3] + "." + tensors[row % 3]] =
            history[row * updates + static_cast<std::size_t>((n_updates - 1) % updates)];
    }
  return maxima;
}

double squared_norm(const Values& values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}
/// Gradients beside PyTorch's: together they are nearer than half of what gradients of products in bf16 are.
void check_gradients(Tensors ours, const nlohmann::json& step, double tolerance) {
  std::erase_if(ours, [](const auto& tensor) { return is_history(tensor.first); });
  CHECK(ours.size() == step.at("gradients").size());
  double squares = 0, of_bf16 = 0, all = 0;
  for (const auto& [name, values] : step.at("gradients").items()) {
    const auto of_torch = values.get<Values>();
    const double error = relative_error(ours.at(name), of_torch);
    const double norm = squared_norm(of_torch);
    const double other = step.at("distance_of_bf16").at(name);
    squares += error * error * norm, of_bf16 += other * other * norm, all += norm;
  }
  const double error = std::sqrt(squares / all), error_of_bf16 = std::sqrt(of_bf16 / all);
  CAPTURE(error, error_of_bf16);
  CHECK(error < tolerance);
  CHECK(error < error_of_bf16 / 2);
}

void check_maxima(const std::map<std::string, double>& maxima, const nlohmann::json& step, double tolerance_of_dy) {
  for (const auto& [name, amax] : step.at("amax").items()) {
    CAPTURE(name);
    CHECK(maxima.at(name) == Approx(amax.get<double>()).epsilon(name.ends_with(".dy") ? tolerance_of_dy : 0.05));
  }
}

/// Forward agrees to the last digits of a loss. In backward a gradient of two bits of mantissa may be rounded to its
/// other neighbour, and moves others, so that the two runs drift apart as steps go by, far slower than from bf16.
template <Recipe R> void check_six_steps(const nlohmann::json& fixture) {
  Training<R> training;
  const nlohmann::json& steps = fixture.at("steps");
  for (int i = 0; i < static_cast<int>(steps.size()); ++i) {
    CAPTURE(i);
    const nlohmann::json& expected = steps[static_cast<std::size_t>(i)];
    const double loss = accumulate_step(training.step, i), loss_of_torch = expected.at("loss");
    const double distance = std::abs(loss_of_torch - expected.at("loss_in_bf16").get<double>());
    CHECK(loss == Approx(loss_of_torch).epsilon(i < 2 ? 1e-5 : 3e-3));
    CHECK(std::abs(loss - loss_of_torch) < distance / 2);
    if (expected.contains("gradients"))
      check_gradients(values_of(training.step.gradients()), expected, i == 0 ? 0.03 : 0.12);
    end_step(training.step, {}, fixture.at("lr"));
    check_maxima(last_maxima(values_of(training.step.parameters()), i + 1), expected, i == 0 ? 0.1 : 0.5);
  }
}

}  // namespace

TEST_CASE("six steps in fp8 are those of PyTorch's float8 dtypes, and tell them from bf16") {
  check_six_steps<Decoder>(fixture("six_steps.json"));
}

TEST_CASE("six steps of adapters beside products in fp8 are those of PyTorch's float8 dtypes") {
  check_six_steps<AdaptedDecoder>(fixture("six_steps_of_adapters.json"));
}

TEST_CASE("adapters beside products in fp8 leave the bits of the base alone, and its maxima are recorded") {
  Training<AdaptedDecoder> training;
  const Tensors initial = values_of(training.step.parameters());
  for (int i = 0; i < updates; ++i) training.take_step(i);
  for (const auto& [name, values] : values_of(training.step.parameters())) {
    CAPTURE(name);
    CHECK((values == initial.at(name)) == (!is_history(name) && name.find(".lora_") == std::string::npos));
    if (is_history(name)) CHECK(std::ranges::none_of(values, [](double maximum) { return maximum == 0; }));
  }
}

TEST_CASE("the history has no gradient, counts as no parameter, and keeps as many updates as it is long") {
  Training<Decoder> training;
  std::vector<std::map<std::string, double>> steps;
  for (int i = 0; i < updates + 1; ++i) {
    training.take_step(i);
    steps.push_back(last_maxima(values_of(training.step.parameters()), i + 1));
  }
  for (const auto& [name, gradient] : values_of(training.step.gradients()))
    if (is_history(name)) CHECK(gradient == Values(gradient.size(), 0));
  const Tensors parameters = values_of(training.step.parameters());
  for (int i = 1; i < updates + 1; ++i) CHECK(last_maxima(parameters, i + 1) == steps[static_cast<std::size_t>(i)]);
  CHECK(last_maxima(parameters, 1) == steps.back());  // the first has made room

  struct InBf16 : Decoder {
    using precision = monomorph::precision::Bf16Mixed;
  };
  STATIC_REQUIRE(plan::params<Decoder> == plan::params<InBf16>);
  STATIC_REQUIRE(plan::fingerprint<Decoder> != plan::fingerprint<InBf16>);
  STATIC_REQUIRE(plan::state_fingerprint<Decoder> != plan::state_fingerprint<InBf16>);
}

TEST_CASE("a step that is not applied records nothing, and neither does an evaluation") {
  Training<Decoder> training;
  training.take_step(0);
  const std::uint64_t before = hash_of(training.step.parameters());
  accumulate_step(training.step, 1);
  CHECK_FALSE(end_step(training.step, {.most_loss = 1e-3}).applied);  // its loss is a spike
  const Rows of_batch = rows(3);
  training.step.evaluate({of_batch.inputs.data(), of_batch.targets.data(), 0});
  CHECK(hash_of(training.step.parameters()) == before);
}

namespace {
template <Recipe R> void check_going_on() {
  Training<R> whole, first, second;
  for (int i = 0; i < 6; ++i) whole.take_step(i);
  for (int i = 0; i < 4; ++i) first.take_step(i);
  assign(second.step.parameters(), values_of(first.step.parameters()));
  second.step.parameters_changed();
  second.step.set_scalars(first.step.scalars());
  for (int i = 4; i < 6; ++i) second.take_step(i);
  CHECK(hash_of(second.step.parameters()) == hash_of(whole.step.parameters()));
  // Without the history they would not be.
  Training<R> forgetful;
  Tensors parameters = values_of(first.step.parameters());
  for (auto& [name, values] : parameters)
    if (is_history(name)) values.assign(values.size(), 0);
  assign(forgetful.step.parameters(), parameters);
  forgetful.step.parameters_changed();
  forgetful.step.set_scalars(first.step.scalars());
  for (int i = 4; i < 6; ++i) forgetful.take_step(i);
  CHECK(hash_of(forgetful.step.parameters()) != hash_of(whole.step.parameters()));
}
}  // namespace

TEST_CASE("a run goes on from its state in the same bits") {
  check_going_on<Decoder>();
  check_going_on<AdaptedDecoder>();
}

namespace {

template <class R, class Policy> struct With : R { using checkpointing = Policy; };
/// With gated activations, norms of heads, and dropout, which have to be computed again alike.
template <class Policy> struct Llama : llama_like {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like::model;
    model.context_length = 32;
    return model;
  }();
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp8Mixed;
  using checkpointing = Policy;
};
template <class R> struct Parallel : R {
  using layers = Stack<Run<Composed<BlockOrder::parallel>::Block, R::model.n_layers.value>>;
};
template <class R> struct Sandwich : R {
  using layers = Stack<Run<Composed<BlockOrder::sandwich_norm>::Block, R::model.n_layers.value>>;
};

template <Recipe R> std::uint64_t three_steps() {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  static const Sequences of_context(4, R::model.context_length, 50);
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t i : {0, 1})
      accumulate(step, of_context.from(2 * i, R::model.context_length), static_cast<std::uint64_t>(number),
                 {.index = i, .count = 2});
    const StepOutcome outcome = step.read(step.decide({}));
    REQUIRE(outcome.applied);
    step.update(adamw_hparams(), {});
  }
  std::vector<HostBuffer> buffers;
  return hash_of(downloaded(step.parameters(), step, buffers));
}

}  // namespace

TEST_CASE("activations that are computed again are those that were kept, in every order of norms") {
  using namespace checkpointing;
  const std::uint64_t kept = three_steps<Llama<KeepAll>>();
  CHECK(three_steps<Llama<EveryBlock>>() == kept);
  CHECK(three_steps<Llama<RecomputeCheap>>() == kept);
  CHECK(three_steps<Llama<Selective<Recompute{.activation = true, .qkv = true, .mlp = true}>>>() == kept);
  CHECK(three_steps<Llama<Selective<Recompute{.attention = true, .projection = true}, EveryNthBlock<2>>>>() == kept);
  CHECK(three_steps<Llama<Offload<>>>() == kept);
  CHECK(three_steps<Parallel<Llama<EveryBlock>>>() == three_steps<Parallel<Llama<KeepAll>>>());
  CHECK(three_steps<Sandwich<Llama<EveryBlock>>>() == three_steps<Sandwich<Llama<KeepAll>>>());
}

TEST_CASE("activations that are computed again are those that were kept, with adapters that drop what they read") {
  using namespace checkpointing;
  const std::uint64_t kept = three_steps<Adapted<Llama<KeepAll>, dropped_everywhere>>();
  CHECK(three_steps<Adapted<Llama<EveryBlock>, dropped_everywhere>>() == kept);
  CHECK(three_steps<Adapted<Llama<RecomputeCheap>, dropped_everywhere>>() == kept);
  CHECK(three_steps<Adapted<Llama<Offload<>>, dropped_everywhere>>() == kept);
}

TEST_CASE("a device that runs later has the same bits in fp8") {
  using OnRecorder = On<Llama<checkpointing::RecomputeCheap>, recorder::Device>;
  CHECK(three_steps<OnRecorder>() == three_steps<Llama<checkpointing::RecomputeCheap>>());
  using Plain = InDocuments<PlainRotary<Llama<checkpointing::KeepAll>>>;
  CHECK(three_steps<On<Plain, recorder::Device>>() == three_steps<Plain>());
}

namespace {
struct Pure : precision::Bf16Pure {
  static constexpr int amax_history = 16;
};
template <class R> struct InPure : R { using precision = Pure; };
}  // namespace

TEST_CASE("masters in bf16 keep the history as it is") {
  using R = InPure<Llama<checkpointing::KeepAll>>;
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  static const Sequences of_context(4, R::model.context_length, 50);
  accumulate(step, of_context.from(0, R::model.context_length), 1, {});
  step.read(step.decide({}));
  step.update(adamw_hparams(), {});
  bool any = false;
  for (const auto& [name, values] : values_of(step.parameters()))
    if (is_history(name)) any = any || values[0] > 0;
  CHECK(any);
}

}  // namespace monomorph::testing
