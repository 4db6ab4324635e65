// The objective of masked tokens against PyTorch (tests/fixtures/masked_tokens): which tokens it selects and what it
// puts in their place, losses and gradients of a model that sees both sides; and the selection's statistics.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/data/loading/batch_contents.hpp>
#include <monomorph/optim/sgd.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace monomorph::testing {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int64_t B = 4, T = 12, V = 23;

using Masked = objective::MaskedTokens<22>;

struct Encoder : gpt2_like {
  static constexpr DecoderSpec model{
      .vocab_size = V, .n_layers = 2, .n_heads = 2, .d_model = 8, .context_length = T, .d_ff = 16};
  using precision = monomorph::precision::Fp64;
  using optimizer = optim::Sgd;
  using attention = monomorph::attention::Bidirectional;
  using objective = Masked;
};

const nlohmann::json& fixture() {
  static const nlohmann::json twenty_steps = [] {
    std::ifstream file(MONOMORPH_SOURCE_DIR "/tests/fixtures/masked_tokens/twenty_steps.json");
    return nlohmann::json::parse(file);
  }();
  return twenty_steps;
}

Masked::Hparams fixture_hparams() {
  Masked::Hparams hparams;
  const nlohmann::json& given = fixture().at("hparams");
  hparams.mask_fraction.value = given.at("mask_fraction");
  hparams.random_fraction.value = given.at("random_fraction");
  hparams.kept_fraction.value = given.at("kept_fraction");
  return hparams;
}

struct Batch {
  Ids inputs, targets;
};

/// The fixture's samples from number `first` on, prepared as those of a batch are.
Batch prepared(std::int64_t first, const random::Stream& stream) {
  Batch batch;
  for (std::int64_t n = first; n < first + B; ++n)
    for (std::int64_t t = 0; t < T; ++t) {
      batch.inputs.push_back(static_cast<std::int32_t>((5 * n + 3 * t + n * t) % 21));
      batch.targets.push_back((n + 2 * t) % 7 == 0 ? ignored_target : batch.inputs.back());
    }
  data::BatchContents contents{.target = data::TargetToken::itself};
  contents.prepare = [](const Sample& sample) { Masked::prepare(sample, fixture_hparams()); };
  data::prepare_batch(contents, first, B, T, V, stream, {batch.inputs.data(), batch.targets.data()});
  return batch;
}
Batch prepared(std::int64_t step) {
  return prepared(step * B, {fixture().at("seed").get<std::uint64_t>(), random::Purpose::training_samples});
}

/// As the fixture's script begins.
Tensors initial(const std::vector<train::StateTensor>& parameters) {
  Tensors tensors = values_of(parameters);
  double number = 0;
  for (auto& [name, values] : tensors) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = 0.3 * std::sin(1.7 * static_cast<double>(i) + number) + (name.ends_with("norm.weight") ? 1 : 0);
    ++number;
  }
  return tensors;
}

PolicyHparams sgd_hparams() {
  auto hparams = PolicyHparams::of<optim::Sgd::Hparams>();
  auto& sgd = hparams.as<optim::Sgd::Hparams>();
  sgd.lr.value = fixture().at("lr");
  sgd.momentum.value = fixture().at("momentum");
  sgd.weight_decay.value = 0;
  return hparams;
}

Tensors scaled(Tensors tensors, double factor) {
  for (auto& [name, values] : tensors)
    for (double& value : values) value *= factor;
  return tensors;
}

/// What became of many tokens with an id of 1 in a vocabulary of 100 with the mask token 99.
struct Fates {
  std::int64_t masked = 0, random = 0, kept = 0, others = 0;
  std::vector<std::int64_t> random_ids = std::vector<std::int64_t>(100);
};
Fates fates(const objective::MaskedTokensHparams& hparams, std::int64_t n_samples, std::int64_t length,
            std::uint64_t seed) {
  Fates fates;
  for (std::int64_t n = 0; n < n_samples; ++n) {
    Ids inputs(static_cast<std::size_t>(length), 1), targets = inputs;
    const Sample sample{.inputs_T = inputs.data(),
                        .targets_T = targets.data(),
                        .document_starts_T = nullptr,
                        .T = length,
                        .vocab_size = 100,
                        .number = static_cast<std::uint64_t>(n),
                        .key = random::key_of({seed, random::Purpose::training_samples})};
    objective::MaskedTokens<99>::prepare(sample, hparams);
    for (std::size_t t = 0; t < inputs.size(); ++t) {
      if (targets[t] == ignored_target) {
        REQUIRE(inputs[t] == 1);
        ++fates.others;
      } else if (inputs[t] == 99) {
        ++fates.masked;
      } else if (inputs[t] == 1) {
        ++fates.kept;
      } else {
        ++fates.random;
        ++fates.random_ids[static_cast<std::size_t>(inputs[t])];
      }
    }
  }
  return fates;
}

double chi_square(const std::vector<std::pair<std::int64_t, double>>& counted_and_expected) {
  double sum = 0;
  for (const auto& [counted, expected] : counted_and_expected)
    sum += std::pow(static_cast<double>(counted) - expected, 2) / expected;
  return sum;
}

}  // namespace

TEST_CASE("the tokens that are selected, and what stands in their place, are those of another implementation") {
  for (std::size_t step = 0; step < fixture().at("steps").size(); ++step) {
    const Batch batch = prepared(static_cast<std::int64_t>(step));
    CAPTURE(step);
    CHECK(batch.inputs == fixture().at("steps")[step].at("inputs").get<Ids>());
    CHECK(batch.targets == fixture().at("steps")[step].at("targets").get<Ids>());
  }
  const Batch held_out = prepared(0, {.seed = 0, .purpose = random::Purpose::evaluation_samples});
  for (std::size_t n = 0; n < B; ++n) {
    const auto row = static_cast<std::ptrdiff_t>(n * T);
    const nlohmann::json& expected = fixture().at("evaluation")[n];
    CHECK(Ids(held_out.inputs.begin() + row, held_out.inputs.begin() + row + T) == expected[0].get<Ids>());
    CHECK(Ids(held_out.targets.begin() + row, held_out.targets.begin() + row + T) == expected[1].get<Ids>());
  }
}

TEST_CASE("a model that sees both sides learns masked tokens as PyTorch's does, over twenty steps") {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<Encoder> step(*communicator, B, 3, 0, fixture_hparams());
  assign(step.parameters(), initial(step.parameters()));
  step.parameters_changed();
  const PolicyHparams hparams = sgd_hparams();
  for (std::int64_t i = 0; i < 20; ++i) {
    CAPTURE(i);
    const Batch batch = prepared(i);
    const train::MicroBatch micro{batch.inputs.data(), batch.targets.data(), static_cast<std::uint64_t>(i * B)};
    const LossSum evaluated = step.evaluate(micro);
    const LossSum sum = accumulate(step, micro, static_cast<std::uint64_t>(i), {});
    const auto n = static_cast<double>(sum.tokens);
    CHECK(sum.tokens == std::ranges::count_if(batch.targets, [](auto id) { return id != ignored_target; }));
    CHECK(std::abs(sum.loss / n / fixture().at("steps")[static_cast<std::size_t>(i)].at("loss").get<double>() - 1) <
          1e-12);
    CHECK(evaluated.loss == sum.loss);
    CHECK(evaluated.tokens == sum.tokens);
    if (const std::string number = std::to_string(i + 1); fixture().at("gradients").contains(number)) {
      const Difference worst = worst_difference(scaled(values_of(step.gradients()), 1 / n),
                                                fixture().at("gradients").at(number).get<Tensors>());
      INFO(worst.name);
      CHECK(worst.error < 1e-10);
    }
    update(step, i + 1, 1 / n, hparams);
  }
}

TEST_CASE("as many tokens are selected, masked, exchanged and kept as the hyperparameters say") {
  const objective::MaskedTokensHparams usual;
  constexpr std::int64_t n_samples = 2000, length = 128;
  constexpr double n = n_samples * length, selected = 0.3 * n;
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    const Fates found = fates(usual, n_samples, length, seed);
    // A token that is exchanged for itself looks kept, for the mask token masked: one in a hundred each.
    const double of_random = 0.1 * selected;
    CHECK(chi_square({{found.others, n - selected},
                      {found.masked, 0.8 * selected + 0.01 * of_random},
                      {found.random, 0.98 * of_random},
                      {found.kept, 0.1 * selected + 0.01 * of_random}}) < 16.3);  // 3 degrees of freedom: 1 in 1000
    std::vector<std::pair<std::int64_t, double>> ids;
    for (std::size_t id = 0; id < 99; ++id)
      if (id != 1) ids.emplace_back(found.random_ids[id], 0.01 * of_random);
    CHECK(chi_square(ids) < 148.2);  // 98 of them: 1 in 1000
  }
}

TEST_CASE("the ends of the ranges: all are selected, every other one is kept, the others are exchanged") {
  objective::MaskedTokensHparams hparams;
  hparams.mask_fraction.value = 1;
  CHECK(fates(hparams, 10, 100, 0).others == 0);
  hparams.random_fraction.value = hparams.kept_fraction.value = 0;
  CHECK(fates(hparams, 10, 100, 0).masked == 1000);
  hparams.random_fraction.value = hparams.kept_fraction.value = 0.5;
  const Fates halves = fates(hparams, 100, 100, 0);
  CHECK(halves.masked < 100);  // exchanged for the mask token
  CHECK(std::abs(static_cast<double>(halves.kept) - 5050) < 250);
}

TEST_CASE("the selection depends on seed, sample and place alone, and leaves out what does not count") {
  const auto selected = [](std::uint64_t seed, std::uint64_t number, std::int64_t length, bool every_other_counts) {
    Ids inputs(static_cast<std::size_t>(length), 1), targets = inputs;
    if (every_other_counts)
      for (std::size_t t = 0; t < targets.size(); t += 2) targets[t] = t % 4 == 0 ? ignored_target : 99;
    const Sample sample{.inputs_T = inputs.data(),
                        .targets_T = targets.data(),
                        .document_starts_T = nullptr,
                        .T = length,
                        .vocab_size = 100,
                        .number = number,
                        .key = random::key_of({seed, random::Purpose::training_samples})};
    objective::MaskedTokens<99>::prepare(sample, {});
    std::vector<bool> is_target;
    for (const std::int32_t target : targets) is_target.push_back(target != ignored_target);
    return is_target;
  };
  const std::vector<bool> all = selected(5, 3, 200, false);
  CHECK(selected(6, 3, 200, false) != all);
  CHECK(selected(5, 4, 200, false) != all);
  CHECK(selected(5, 3 + (std::uint64_t{1} << 32), 200, false) != all);
  const std::vector<bool> of_shorter = selected(5, 3, 100, false);
  CHECK(std::equal(of_shorter.begin(), of_shorter.end(), all.begin()));
  std::vector<bool> of_counted = all;
  for (std::size_t t = 0; t < of_counted.size(); t += 2) of_counted[t] = false;  // ignored, or the mask token itself
  CHECK(selected(5, 3, 200, true) == of_counted);
}

}  // namespace monomorph::testing
