// Soft caps of scores and logits, against autograd in fp64: training, evaluation and decoding, under every way to keep
// activations, and under objectives that overwrite logits by their gradients.
#include "numerics/model_check.hpp"
#include "numerics/perturb.hpp"
#include "numerics/schedule_recipes.hpp"
#include "out_of_tree/focal_loss.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/one_sequence.hpp"

#include <monomorph/plan/fingerprint.hpp>
#include <monomorph/plan/state_fingerprint.hpp>
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::testing {
namespace {

using namespace checkpointing;

struct bare {
  static constexpr DecoderSpec model{.vocab_size = 50,
                                     .n_layers = 3,
                                     .n_heads = 4,
                                     .d_model = 32,
                                     .context_length = 24,
                                     .n_kv_heads = 2,
                                     .vocab_multiple = 64,
                                     .activation = Activation::swiglu,
                                     .position = Position::rotary};
  using sharding = sharding::Replicate;
  using precision = precision::Fp64;
  using checkpointing = KeepAll;
  using optimizer = optim::AdamW;
};
using Both = Capped<bare>;
constexpr DecoderSpec with(auto change) {
  DecoderSpec model = Both::model;
  change(model);
  return model;
}

struct OfScores : bare {
  static constexpr DecoderSpec model = with([](DecoderSpec& model) { model.soft_cap.logits = 0; });
};
struct OfLogits : bare {
  static constexpr DecoderSpec model = with([](DecoderSpec& model) { model.soft_cap.scores = 0; });
};
/// Its kernel drops probabilities, behind the cap.
struct Dropping : bare {
  static constexpr DecoderSpec model = with([](DecoderSpec& model) {
    model.attention_kernel = AttentionKernel::reference;
    model.dropout.attention = 0.2;
  });
};
struct Untied : bare {
  static constexpr DecoderSpec model = with([](DecoderSpec& model) {
    model.tied_head = false;
    model.vocab_multiple = 1;
    model.position = Position::learned;
    model.multiplier.attention = 0.9;
  });
};
template <class R> using Window = DecoderBlockWith<attention::SlidingWindow<5>>::Block<R>;
struct Windowed : Both {
  using layers = Stack<Run<Window, 2>, Run<DecoderBlock, 1>>;
};
template <class R, class Policy> struct With : R { using checkpointing = Policy; };
using Chosen = Selective<Recompute{.norm = true, .activation = true, .attention = true}>;

template <class R> struct Focal : R { using objective = stranger::FocalLoss; };

struct InFp32 : Both {
  using precision = monomorph::precision::Fp32;
};
struct InBf16Mixed : Both {
  using precision = monomorph::precision::Bf16Mixed;
};
struct InNarrowLogits : Both {
  using precision = monomorph::precision::NarrowLogits<monomorph::precision::Bf16Mixed>;
};

/// Of whose targets six in seven count.
template <class R> Sequences rows_of(std::int64_t n) {
  Sequences rows(n, R::model.context_length, R::model.vocab_size);
  for (std::size_t i = 0; i < rows.targets.size(); ++i)
    rows.targets[i] = i % 7 == 3 ? ignored_target : static_cast<std::int32_t>((3 * i * i + i) % 50);
  return rows;
}

/// Losses and gradients of a step, and the bare cross-entropy of an evaluation.
template <Recipe R>
void check_objective(const typename objective_of<R>::Hparams& hparams, const ReferenceTerms& terms, std::int64_t B) {
  CAPTURE(B, terms.label_smoothing, terms.z_loss, terms.focal_gamma);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, B, 3, 0, hparams);
  CHECK(step.state().arena().unused_bytes() == 0);
  perturb(step);
  const Sequences rows = rows_of<R>(B);
  ReferenceBatch batch{.ids = rows.inputs, .targets = rows.targets, .terms = terms};
  const ReferenceResult expected = reference_model(R::model, values_of(step.parameters()), batch);
  CHECK(accumulate(step, rows.from(0, R::model.context_length), 1, {0, 1}).loss ==
        Approx(expected.loss).epsilon(1e-10));
  const Difference worst = worst_difference(values_of(step.gradients()), expected.gradients);
  INFO(worst.name);
  CHECK(worst.error < 1e-9);
  batch.terms = {};
  CHECK(step.evaluate(rows.from(0, R::model.context_length)).loss ==
        Approx(reference_model(R::model, values_of(step.parameters()), batch).loss).epsilon(1e-10));
}

constexpr std::int64_t in_one_chunk = 3, in_two_chunks = 24;  // samples
static_assert(loss_chunk_tokens<Both>(4096) == 512 && 24 * in_one_chunk < 512 && 24 * in_two_chunks > 512);

}  // namespace

TEST_CASE("models with soft caps, against autograd: training, evaluation, decoding") {
  check_model(model_case<Both>(0));
  check_model(model_case<With<Both, EveryBlock>>(1));
  check_model(model_case<With<Both, Chosen>>(2));
  check_model(model_case<OfScores>(3));
  check_model(model_case<OfLogits>(4));
  check_model(model_case<InDocuments<Both>>(5));
  check_model(model_case<With<Windowed, EveryBlock>>(6));
  check_model(model_case<Dropping>(7));
  check_model(model_case<Untied>(8));
}

TEST_CASE("objectives see logits with their caps, and gradients go on to what is capped") {
  objective::NextTokenHparams smoothed;
  smoothed.label_smoothing.value = 0.1;
  smoothed.z_loss.value = 0.01;
  for (const std::int64_t B : {in_one_chunk, in_two_chunks}) {
    check_objective<Both>(smoothed, {.label_smoothing = 0.1, .z_loss = 0.01}, B);
    check_objective<Focal<Both>>({}, {.focal_gamma = 2}, B);
  }
  check_objective<With<Untied, EveryBlock>>(smoothed, {.label_smoothing = 0.1, .z_loss = 0.01}, in_one_chunk);
}

TEST_CASE("of 16 bits logits with caps give what those of fp32 do, but for roundings") {
  const auto made = []<class R>(std::type_identity<R>) {
    const auto communicator = one_rank();
    train::Step<R> step(*communicator, in_two_chunks, 3);
    perturb(step);
    const Sequences rows = rows_of<R>(in_two_chunks);
    const double loss = accumulate(step, rows.from(0, R::model.context_length), 1, {0, 1}).loss;
    Values all;
    for (const auto& [name, values] : values_of(step.gradients())) all.insert(all.end(), values.begin(), values.end());
    return std::pair(loss, all);
  };
  const auto [loss, gradients] = made(std::type_identity<InFp32>{});
  const auto [mixed_loss, mixed] = made(std::type_identity<InBf16Mixed>{});
  const auto [narrow_loss, narrow] = made(std::type_identity<InNarrowLogits>{});
  CHECK(mixed_loss == Approx(loss).epsilon(3e-3));
  CHECK(narrow_loss == Approx(loss).epsilon(3e-3));
  CHECK(relative_error(mixed, gradients) < 0.05);
  CHECK(relative_error(narrow, gradients) < 0.05);
  const auto [focal_loss, focal] = made(std::type_identity<Focal<InFp32>>{});
  const auto [focal_mixed_loss, focal_mixed] = made(std::type_identity<Focal<InBf16Mixed>>{});
  CHECK(focal_mixed_loss == Approx(focal_loss).epsilon(3e-3));
  CHECK(relative_error(focal_mixed, focal) < 0.05);
}

TEST_CASE("recipes of other soft caps have other fingerprints") {
  CHECK(plan::fingerprint<Both> != plan::fingerprint<bare>);
  CHECK(plan::fingerprint<OfScores> != plan::fingerprint<OfLogits>);
  CHECK(plan::fingerprint<OfScores> != plan::fingerprint<Both>);
  CHECK(plan::state_fingerprint<Both> != plan::state_fingerprint<bare>);
  CHECK(plan::state_fingerprint<OfScores> != plan::state_fingerprint<OfLogits>);
}

}  // namespace monomorph::testing
