// Groups of parameters with learning rates and weight decays of their own, against PyTorch's parameter groups
// (tests/fixtures/optimizers/make_groups.py), which are selected there by other code.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/tensors.hpp"

#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

struct LayerDecay {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.?.mlp.*", .layer_decay = 0.8},
                                              {.parameters = "*", .lr_multiplier = 2, .layer_decay = 0.8}};
};
struct Classes {
  static constexpr ParameterGroup groups[] = {
      {.parameters = ParameterClass::norm, .lr_multiplier = 0.25, .weight_decay_multiplier = 0},
      {.parameters = ParameterClass::embedding, .lr_multiplier = 3, .weight_decay_multiplier = 0.5},
      {.parameters = "layers.*.attention.q.*", .lr_multiplier = 0.5, .weight_decay_multiplier = 2},
      {.parameters = "layers.*.attention.k.weight", .lr_multiplier = 0.5, .weight_decay_multiplier = 2}};
};
struct OneTensor {
  static constexpr ParameterGroup groups[] = {
      {.parameters = "layers.2.mlp.up.weight", .lr_multiplier = 10, .weight_decay_multiplier = 0}};
};
/// They contain parameters, and change nothing.
struct Ones {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*.mlp.*"}, {.parameters = ParameterClass::norm}};
};

template <class Optimizer> struct InFp64 : llama_like {
  using precision = monomorph::precision::Fp64;
  using optimizer = Optimizer;
};

nlohmann::json fixture() {
  std::ifstream file(MONOMORPH_SOURCE_DIR "/tests/fixtures/optimizers/parameter_groups.json");
  return nlohmann::json::parse(file);
}

/// Every tensor with values that follow from its place among the names, and from the elements' places in it.
Tensors filled(const std::vector<train::StateTensor>& tensors, double (*element)(double i, double k, double t), int t) {
  Tensors values = values_of(tensors);
  int k = 0;
  for (auto& [name, of_tensor] : values) {
    for (std::size_t i = 0; i < of_tensor.size(); ++i)
      of_tensor[i] = element(static_cast<double>(i), static_cast<double>(k), static_cast<double>(t));
    ++k;
  }
  return values;
}

Values ends(const Values& values) {
  Values ends(values.begin(), values.begin() + 3);
  ends.insert(ends.end(), values.end() - 3, values.end());
  return ends;
}

template <Recipe R> void check_case(const char* name, double lr, double weight_decay) {
  CAPTURE(name);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 3);
  auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  hparams.template as<typename R::optimizer::Hparams>().lr.value = lr;
  hparams.template as<typename R::optimizer::Hparams>().weight_decay.value = weight_decay;
  assign(step.parameters(), filled(
                                step.parameters(), [](double i, double k, double) { return std::sin(i + k); }, 0));
  step.parameters_changed();
  for (int t = 1; t <= 20; ++t) {
    const auto gradient = [](double i, double k, double number) {
      return std::sin(0.37 * i + 1.3 * number + k) + 0.2 * std::cos(0.11 * i * number);
    };
    assign(step.gradients(), filled(step.gradients(), gradient, t));
    update(step, t, 1, hparams);
  }
  const auto expected = fixture().at("cases").at(name).get<std::map<std::string, Values>>();
  const Tensors parameters = values_of(step.parameters());
  REQUIRE(parameters.size() == expected.size());
  for (const auto& [tensor, of_tensor] : parameters) {
    CAPTURE(tensor);
    CHECK(relative_error(ends(of_tensor), expected.at(tensor)) < 1e-12);
  }
}

template <Recipe R> Tensors after_two_steps(double lr = 1e-3) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 3);
  auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  hparams.template as<typename R::optimizer::Hparams>().lr.value = lr;
  for (int t = 1; t <= 2; ++t) {
    accumulate(step, sequences.from(t, R::model.context_length), 1, {.index = 0, .count = 1});
    update(step, t, 1e-2, hparams);
  }
  Tensors all = values_of(step.parameters());
  all.merge(values_of(step.optimizer_state()));
  return all;
}

template <class R, class Groups> struct GroupedBy : R {
  using optimizer = optim::Grouped<typename R::optimizer, Groups>;
};
template <class R> struct ByClassOf : R { using optimizer = optim::ByClass<optim::Muon, optim::AdamW>; };
struct HalfOfBlocks {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*", .lr_multiplier = 0.5}};
};
template <class R> struct InBf16Pure : R { using precision = monomorph::precision::Bf16Pure; };

}  // namespace

TEST_CASE("twenty steps with groups of parameters are those of PyTorch's parameter groups") {
  using optim::AdamW, optim::Sgd, optim::Grouped;
  check_case<InFp64<Grouped<AdamW, LayerDecay>>>("adamw layer_decay", 1e-3, 0.1);
  check_case<InFp64<Grouped<AdamW, Classes>>>("adamw classes", 1e-3, 0.1);
  check_case<InFp64<Grouped<AdamW, OneTensor>>>("adamw one_tensor", 1e-3, 0.1);
  check_case<InFp64<Grouped<Sgd, LayerDecay>>>("sgd layer_decay", 0.1, 0.02);
  check_case<InFp64<Grouped<Sgd, Classes>>>("sgd classes", 0.1, 0.02);
}

TEST_CASE("groups whose factors are one change no bit, however parameters are rounded") {
  CHECK(after_two_steps<GroupedBy<llama_like, Ones>>() == after_two_steps<llama_like>());
  CHECK(after_two_steps<GroupedBy<gpt2_like, Ones>>() == after_two_steps<gpt2_like>());
  CHECK(after_two_steps<GroupedBy<InBf16Pure<llama_like>, Ones>>() == after_two_steps<InBf16Pure<llama_like>>());
}

TEST_CASE("what is in no group keeps its bits, and what is in one moves by its factor") {
  using grouped = GroupedBy<llama_like, OneTensor>;
  const std::string in_group = "layers.2.mlp.up.weight";
  // In the first step gradients do not depend on the factors yet, and in the second one they do, so one step.
  const auto after_one_step = []<class R>(std::type_identity<R>, double lr) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, 1, 3);
    auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
    hparams.template as<typename R::optimizer::Hparams>().lr.value = lr;
    hparams.template as<typename R::optimizer::Hparams>().weight_decay.value = 0;
    accumulate(step, sequences.from(0, R::model.context_length), 1, {.index = 0, .count = 1});
    update(step, 1, 1e-2, hparams);
    return values_of(step.parameters());
  };
  const Tensors usual = after_one_step(std::type_identity<llama_like>{}, 1e-3),
                tenfold = after_one_step(std::type_identity<llama_like>{}, 1e-2),
                tensors = after_one_step(std::type_identity<grouped>{}, 1e-3);
  for (const auto& [name, values] : tensors) {
    CAPTURE(name);
    CHECK(values == (name == in_group ? tenfold : usual).at(name));
  }
}

TEST_CASE("a group of matrices that are made orthogonal moves by its factor, as all others of both optimizers do") {
  using by_class = ByClassOf<llama_like>;
  const auto after_one_step = []<class R>(std::type_identity<R>, double scale) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, 1, 3);
    auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
    auto& both = hparams.template as<typename R::optimizer::Hparams>();
    both.matrices.lr.value = 1e-2 * scale;
    both.matrices.weight_decay.value = 0.1;
    both.others.lr.value = 1e-3 * scale;
    accumulate(step, sequences.from(0, R::model.context_length), 1, {.index = 0, .count = 1});
    update(step, 1, 1e-2, hparams);
    return values_of(step.parameters());
  };
  const Tensors usual = after_one_step(std::type_identity<by_class>{}, 1),
                halved = after_one_step(std::type_identity<by_class>{}, 0.5),
                tensors = after_one_step(std::type_identity<GroupedBy<by_class, HalfOfBlocks>>{}, 1);
  for (const auto& [name, values] : tensors) {
    CAPTURE(name);
    CHECK(values == (name.starts_with("layers.") ? halved : usual).at(name));
  }
}

TEST_CASE("a run with groups goes on from one without, and with other factors") {
  STATIC_REQUIRE(plan::state_fingerprint<GroupedBy<llama_like, LayerDecay>> == plan::state_fingerprint<llama_like>);
  STATIC_REQUIRE(plan::fingerprint<GroupedBy<llama_like, LayerDecay>> != plan::fingerprint<llama_like>);
  STATIC_REQUIRE(plan::fingerprint<GroupedBy<llama_like, LayerDecay>> !=
                 plan::fingerprint<GroupedBy<llama_like, Classes>>);
}

}  // namespace monomorph::testing
