// Standard deviations are those of the formulas' sources, by hand: include/monomorph/spec/initialization_spec.hpp.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

constexpr double D = 128, L = 2;

template <InitializationScheme scheme_, bool automatic_std = false> struct Initialized : gpt2_like {
  static constexpr DecoderSpec model{.vocab_size = 300,
                                     .n_layers = 2,
                                     .n_heads = 4,
                                     .d_model = 128,
                                     .context_length = 64,
                                     .vocab_multiple = 512,
                                     .qk_norm = true,
                                     .tied_head = false,
                                     .initialization = {.scheme = scheme_,
                                                        .std = automatic_std ? Derived<double>() : 0.03}};
};

struct Expected {
  double embedding, matrix, residual_0, residual_1, head;
  double cutoff = 0;  // of matrices and head, in stds
};

double std_of(const Values& values) {
  double sum = 0, squares = 0;
  for (const double value : values) sum += value, squares += value * value;
  const double n = static_cast<double>(values.size()), mean = sum / n;
  CHECK(std::abs(mean) < 5 * std::sqrt(squares / n / n));  // five standard errors
  return std::sqrt(squares / n - mean * mean);
}

/// Of a normal distribution truncated at ± 3 its std is smaller: 1 - 2 · 3 φ(3) / (2 Φ(3) - 1), rooted.
double truncation(double cutoff) { return cutoff == 3 ? 0.98658 : 1; }

void check_tensor(const std::string& name, const Values& values, const Expected& expected) {
  INFO(name);
  const bool bias = name.ends_with("bias"), norm = name.find("norm") != std::string::npos;
  if (bias || norm) {
    CHECK(values == Values(values.size(), bias ? 0 : 1));
    return;
  }
  const bool embeds = name.find("embedding") != std::string::npos;
  const bool into_stream = name.ends_with("out.weight") || name.ends_with("down.weight");
  const double std = embeds                  ? expected.embedding
                     : name == "head.weight" ? expected.head
                     : !into_stream          ? expected.matrix
                     : name[7] == '0'        ? expected.residual_0
                                             : expected.residual_1;
  const double cutoff = embeds ? 0 : expected.cutoff, n = static_cast<double>(values.size());
  CHECK(std::abs(std_of(values) / (std * truncation(cutoff)) - 1) < 5 / std::sqrt(2 * n));
  if (cutoff > 0)
    CHECK(
        std::all_of(values.begin(), values.end(), [&](double v) { return std::abs(v) <= cutoff * std * (1 + 1e-6); }));
}

template <Recipe R> void check_scheme(const Expected& expected) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 1, 17);
  for (const auto& [name, values] : values_of(step.parameters())) check_tensor(name, values, expected);

  CHECK(hash_of(train::Step<R>(*communicator, 2, 17).parameters()) == hash_of(step.parameters()));
  CHECK(hash_of(train::Step<R>(*communicator, 1, 18).parameters()) != hash_of(step.parameters()));
}

}  // namespace

TEST_CASE("plain initialisation") {
  check_scheme<Initialized<InitializationScheme::plain>>({0.03, 0.03, 0.03, 0.03, 0.03});
}
TEST_CASE("plain initialisation with the automatic std") {
  const double std = std::sqrt(2 / (5 * D));
  check_scheme<Initialized<InitializationScheme::plain, true>>({std, std, std, std, std});
}
TEST_CASE("depth-scaled initialisation") {
  const double residual = 0.03 / std::sqrt(2 * L);
  check_scheme<Initialized<InitializationScheme::depth_scaled>>({0.03, 0.03, residual, residual, 0.03});
}
TEST_CASE("scaled-embedding initialisation") {
  const double residual = 0.03 / std::sqrt(2 * L);
  check_scheme<Initialized<InitializationScheme::scaled_embedding>>({std::sqrt(0.4), 0.03, residual, residual, 0.03});
}
TEST_CASE("Llama-3-like initialisation") {
  check_scheme<Initialized<InitializationScheme::llama3>>(
      {1, 0.03, 0.03 / std::sqrt(2.0), 0.03 / std::sqrt(4.0), 1 / std::sqrt(D), 3});
}

TEST_CASE("padded rows of the tables are zero, and stay so") {
  using R = Initialized<InitializationScheme::plain>;
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 17);
  std::vector<std::int32_t> ids(128);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 7 % 300);
  accumulate(step, {ids.data(), ids.data(), 0}, 1, {});
  update(step, 1, 1);
  const auto padding_of = [](View params, Slice table) {
    return values_of(params[table].rows(R::model.vocab_size, 512 - R::model.vocab_size));
  };
  const Values embedding = padding_of(step.state().parameters.shard(0), TokenEmbedding<R>::Params{}.table_VD),
               head =
                   padding_of(step.state().parameters.shard(plan::head_unit<R>), VocabularyHead<R>::Params{}.head_VD);
  CHECK(embedding == Values(embedding.size(), 0));
  CHECK(head == Values(head.size(), 0));
}

}  // namespace monomorph::testing
