// A row of several documents against the same documents one at a time, each alone in a row of its own of the same
// model with plain causal attention, which knows nothing of documents.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace monomorph::testing {
namespace {

/// In fp64 blocks of attention have 48 tokens: rows of three blocks and a bit, without dropout.
constexpr std::int64_t T = 150;
template <class R> constexpr DecoderSpec long_model() {
  DecoderSpec model = R::model;
  model.context_length.value = T;
  model.n_layers.value = 2;
  model.dropout = {};
  return model;
}
template <class R, AttentionKernel kernel> struct Long : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = long_model<R>();
    model.attention_kernel = kernel;
    return model;
  }();
  using precision = precision::Fp64;
};
template <class R> struct Recomputed : R { using checkpointing = checkpointing::EveryBlock; };

using Lengths = std::vector<std::int64_t>;  // of a row's documents; they add up to T

/// B rows and where their documents begin. The last token of a document has a target, too.
struct Rows {
  std::vector<std::int32_t> inputs, targets, starts;
  explicit Rows(const std::vector<Lengths>& rows) {
    for (const Lengths& lengths : rows)
      for (const std::int64_t length : lengths) {
        const auto start = static_cast<std::int32_t>(inputs.size() % T);
        for (std::int64_t t = 0; t < length; ++t) {
          const auto i = static_cast<std::int64_t>(inputs.size());
          inputs.push_back(static_cast<std::int32_t>((i * i + 3 * i) % 50));
          targets.push_back(i % 7 == 3 ? ignored_target : static_cast<std::int32_t>((5 * i + i / 11) % 50));
          starts.push_back(start);
        }
      }
  }
  train::MicroBatch batch() const { return {inputs.data(), targets.data(), 0, starts.data()}; }
};

struct Pass {
  LossSum loss;
  Tensors gradients;
};

template <Recipe R> Pass together(const Rows& rows, std::int64_t n_rows) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, n_rows, 3);
  Pass pass{accumulate(step, rows.batch(), 1, {}), {}};
  CHECK(step.evaluate(rows.batch()).loss == pass.loss.loss);
  pass.gradients = values_of(step.gradients());
  return pass;
}

/// Each document begins a row that goes on with tokens whose targets do not count.
template <Recipe R> Pass one_at_a_time(const Rows& rows, const std::vector<Lengths>& lengths) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 1, 3);
  Pass pass{};
  std::size_t first = 0;
  for (const Lengths& row : lengths)
    for (const std::int64_t length : row) {
      const auto n = static_cast<std::size_t>(length);
      std::vector<std::int32_t> inputs(T, 49), targets(T, ignored_target);
      std::copy_n(rows.inputs.data() + first, n, inputs.begin());
      std::copy_n(rows.targets.data() + first, n, targets.begin());
      const LossSum loss = accumulate(step, {inputs.data(), targets.data(), 0}, 1,
                                      {static_cast<std::int64_t>(first), std::ssize(rows.inputs)});
      pass.loss.loss += loss.loss;
      pass.loss.tokens += loss.tokens;
      first += n;
    }
  pass.gradients = values_of(step.gradients());
  return pass;
}

void check_equal(const Pass& actual, const Pass& expected) {
  CHECK(actual.loss.tokens == expected.loss.tokens);
  CHECK(std::abs(actual.loss.loss / expected.loss.loss - 1) < 1e-12);
  const Difference worst = worst_difference(actual.gradients, expected.gradients);
  INFO(worst.name);
  CHECK(worst.error < 1e-9);
}

template <Recipe R> void check_documents() {
  static const std::vector<Lengths> cases[] = {
      {{20, 1, 1, 61, 67}, {T}},             // several, and one beside it in the batch
      {{48, 48, 48, 6}, {47, 1, 49, 53}},    // at the edges of blocks, and beside them
      {{1, 1, 1, 1, T - 5, 1}, {1, T - 1}},  // of one token
  };
  for (const std::vector<Lengths>& lengths : cases) {
    const Rows rows(lengths);
    check_equal(together<InDocuments<R>>(rows, static_cast<std::int64_t>(lengths.size())),
                one_at_a_time<R>(rows, lengths));
  }
}

template <Recipe R> std::string bits_of_pass(const Rows& rows) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  const double loss = accumulate(step, rows.batch(), 1, {}).loss;
  accumulate(step, rows.batch(), 1, {1, 2});
  return std::to_string(hash_of(step.gradients())) + " " + std::to_string(std::bit_cast<std::uint64_t>(loss));
}

}  // namespace

TEST_CASE("documents in a row train as each alone does, with learned positions") {
  check_documents<Long<gpt2_like, AttentionKernel::tiled>>();
}
TEST_CASE("documents in a row train as each alone does, with rotary positions and key heads shared") {
  check_documents<Recomputed<Long<llama_like, AttentionKernel::tiled>>>();
}
TEST_CASE("documents in a row train as each alone does, with the reference attention") {
  check_documents<Long<llama_like, AttentionKernel::reference>>();
}

TEST_CASE("rows of one document each train in the bits of causal attention") {
  const Rows rows({{T}, {T}});
  using Gpt2 = Long<gpt2_like, AttentionKernel::tiled>;
  using Llama = Long<llama_like, AttentionKernel::tiled>;
  CHECK(bits_of_pass<InDocuments<Gpt2>>(rows) == bits_of_pass<Gpt2>(rows));
  CHECK(bits_of_pass<InDocuments<Llama>>(rows) == bits_of_pass<Llama>(rows));
}

TEST_CASE("a step whose recipe attends within documents insists on being told where they begin") {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<InDocuments<llama_like>> step(*communicator, 1, 3);
  train::Step<llama_like> causal(*communicator, 1, 3);
  train::MicroBatch batch = sequences.from(0, llama_like::model.context_length);
  batch.document_starts = nullptr;
  CHECK(contains(error_of([&] { step.evaluate(batch); }), "[KERNEL-04]"));
  CHECK(causal.evaluate(batch).tokens == 24);
}

}  // namespace monomorph::testing
