// Models whose attention has a mask, in all layers or some, against the same model in fp64 autograd, where the mask is
// asked for each pair of a query and a key; and decoding, against the whole row.
#include "numerics/schedule_recipes.hpp"
#include "out_of_tree/short_sight.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/one_sequence.hpp"
#include "support/reference_model.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

constexpr std::int64_t B = 2, V = 50;

/// In fp64 blocks of attention have 48 tokens: T is a row of one and a bit, or of a few tokens.
template <class R, std::int64_t T, class Policy, AttentionKernel kernel = AttentionKernel::tiled> struct Masked : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.context_length.value = T;
    model.n_layers.value = 3;
    model.dropout = {};
    model.attention_kernel = kernel;
    return model;
  }();
  using precision = precision::Fp64;
  using attention = Policy;
};
/// A layer that sees all before it between layers that see their neighbourhood.
template <class R> struct Alternating : R {
  using layers = Stack<Run<DecoderBlockWith<attention::SlidingWindow<4>>::Block, 1>, Run<DecoderBlock, 1>,
                       Run<DecoderBlockWith<attention::SlidingWindow<9>>::Block, 1>>;
};

/// What sees tokens behind it may not predict the next one.
template <class R> struct Encoding : R { using objective = objective::MaskedTokens<49>; };

template <std::int64_t W> bool in_window(int /*block*/, std::int64_t query, std::int64_t key) {
  return key <= query && key > query - W;
}
template <std::int64_t P> bool in_prefix(int /*block*/, std::int64_t query, std::int64_t key) {
  return key <= query || key < P;
}
bool everywhere(int /*block*/, std::int64_t /*query*/, std::int64_t /*key*/) { return true; }
bool alternately(int block, std::int64_t query, std::int64_t key) {
  return block == 0 ? in_window<4>(block, query, key) : block == 1 ? key <= query : in_window<9>(block, query, key);
}

struct Rows {
  std::vector<std::int32_t> inputs, targets, starts;
  explicit Rows(std::int64_t T) {
    for (std::int64_t i = 0; i < B * T; ++i) {
      const std::int64_t t = i % T;
      inputs.push_back(static_cast<std::int32_t>((i * i + 3 * i) % V));
      targets.push_back(i % 7 == 3 ? ignored_target : static_cast<std::int32_t>((5 * i + i / 11) % V));
      const bool begins = t == 0 || t == T / 5 || t == T / 2 || t == T / 2 + 1 || (i >= T && t == T / 3);
      starts.push_back(begins ? static_cast<std::int32_t>(t) : starts.back());
    }
  }
};

template <Recipe R> ReferenceResult reference(const Tensors& parameters, const Rows& rows, Sees sees, bool documents) {
  return reference_model(R::model, parameters,
                         {.ids = rows.inputs,
                          .targets = rows.targets,
                          .document_starts = documents ? rows.starts : std::vector<std::int32_t>(),
                          .sees = std::move(sees)});
}

template <Recipe R> void check_training(const Sees& sees) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, B, 3);
  const Rows rows(R::model.context_length);
  constexpr bool documents = attention_of<R>::within_documents;
  const ReferenceResult expected = reference<R>(values_of(step.parameters()), rows, sees, documents);
  const train::MicroBatch batch{rows.inputs.data(), rows.targets.data(), 0, documents ? rows.starts.data() : nullptr};
  const double loss = accumulate(step, batch, 1, {}).loss;
  CHECK(std::abs(loss / expected.loss - 1) < 1e-12);
  CHECK(step.evaluate(batch).loss == loss);
  const Difference worst = worst_difference(values_of(step.gradients()), expected.gradients);
  INFO(worst.name);
  CHECK(worst.error < 1e-9);
}

/// Logits after each token that is fed, against a row in which later tokens are hidden from all that were fed.
template <Recipe R> void check_decoding(const Sees& sees, bool with_cache) {
  static_assert(R::model.context_length <= 24);
  CHECK(train::every_layer_decodes<R> == with_cache);
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::GeneratingStep<R> step(*communicator, B, 3);
  const Tensors parameters = values_of(step.parameters());
  const auto T = static_cast<std::size_t>(R::model.context_length);
  const Rows rows(R::model.context_length);
  OneSequence decoder(step, R::model.context_length);
  for (int round = 0; round < 2; ++round) {  // nothing is left of a text when the next one begins
    decoder.reset();
    for (std::size_t t = 0; t < T; t += round == 0 ? 1 : T) {
      const float* const next = decoder.feed(rows.inputs[t]);
      const Values logits(next, next + V),
          all = reference<R>(
                    parameters, rows,
                    [&](int block, std::int64_t query, std::int64_t key) {
                      return sees(block, query, key) && (key <= static_cast<std::int64_t>(t) || key == query);
                    },
                    false)
                    .logits;
      const auto row = all.begin() + static_cast<std::ptrdiff_t>(t * V);
      CHECK(relative_error(logits, Values(row, row + V)) < 1e-6);
    }
  }
}

}  // namespace

using attention::PerDocument, attention::Prefix, attention::SlidingWindow;

TEST_CASE("a model with a sliding window trains as autograd does") {
  check_training<Masked<gpt2_like, 70, SlidingWindow<2>>>(in_window<2>);
  check_training<Masked<gpt2_like, 70, SlidingWindow<5>>>(in_window<5>);
  check_training<Masked<llama_like, 70, SlidingWindow<50>>>(in_window<50>);
  check_training<Masked<llama_like, 70, SlidingWindow<5>, AttentionKernel::reference>>(in_window<5>);
  check_training<Masked<llama_like, 70, PerDocument<SlidingWindow<5>>>>(in_window<5>);
}
TEST_CASE("a model with a mask from outside of the tree trains as autograd does") {
  check_training<Masked<gpt2_like, 70, stranger::ShortSight<3>>>(in_window<4>);  // three tokens before the query's own
  check_training<Masked<llama_like, 70, PerDocument<stranger::ShortSight<3>>>>(in_window<4>);
}
TEST_CASE("a model with a prefix trains as autograd does") {
  check_training<Masked<gpt2_like, 70, Prefix<9>>>(in_prefix<9>);
  check_training<Masked<llama_like, 70, Prefix<60>>>(in_prefix<60>);
  check_training<Masked<llama_like, 70, Prefix<9>, AttentionKernel::reference>>(in_prefix<9>);
  check_training<Masked<gpt2_like, 70, PerDocument<Prefix<9>>>>(in_prefix<9>);
}
TEST_CASE("a model that sees the whole row, or document, trains as autograd does") {
  check_training<Encoding<Masked<gpt2_like, 70, attention::Bidirectional>>>(everywhere);
  check_training<Encoding<Masked<llama_like, 70, PerDocument<attention::Bidirectional>>>>(everywhere);
}
TEST_CASE("a model whose layers have masks of their own trains as autograd does") {
  check_training<Alternating<Masked<llama_like, 70, attention::Causal>>>(alternately);
}

TEST_CASE("decoding with a cache sees the window that the whole row sees") {
  check_decoding<Masked<llama_like, 24, SlidingWindow<5>>>(in_window<5>, true);
  check_decoding<Masked<gpt2_like, 24, PerDocument<SlidingWindow<1>>>>(in_window<1>, true);
  check_decoding<Alternating<Masked<gpt2_like, 24, attention::Causal>>>(alternately, true);
}
TEST_CASE("decoding with a prefix computes the prefix again for each token, as far as it is known") {
  check_decoding<Masked<llama_like, 24, Prefix<9>>>(in_prefix<9>, false);
  check_decoding<Masked<gpt2_like, 24, PerDocument<Prefix<9>>>>(in_prefix<9>, false);
}

}  // namespace monomorph::testing
