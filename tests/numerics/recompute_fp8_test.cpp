// Each choice of what backward computes again of blocks whose products are in fp8: the bits and maxima of keeping
// everything. And where what a product reads is rounded by its maker, those of storing it in bf16 first.
#include "numerics/low_rank_recipes.hpp"
#include "numerics/recompute_choices.hpp"
#include "support/adamw_update.hpp"
#include "support/plain_rotary.hpp"

namespace monomorph::testing {
namespace {

/// Rows as short as products in fp8 allow.
template <class R> struct InFp8 : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.context_length = 16;
    return model;
  }();
  using precision = precision::Fp8Mixed;
};

/// Parts of one's own, which get their input in bf16, and do with it what ours do.
template <class R, template <class> class PartOf> struct Wrapped : PartOf<R> {
  using Whole = PartOf<R>;
  static auto whole(const auto& t) { return PartTensors<Whole>{t.t, t.p, t.saved, t.temporary}; }
  static void compute(const PartTensors<Wrapped>& t, auto in, Recompute what) { Whole::compute(whole(t), in, what); }
  static void project(const PartTensors<Wrapped>& t, auto residual, auto out) {
    Whole::project(whole(t), residual, out);
  }
  static void backward(const PartTensors<Wrapped>& t, auto in, auto dout, auto din, bool accumulate) {
    Whole::backward(whole(t), in, dout, din, accumulate);
  }
  static void decode(const PartDecode<Wrapped>& t, auto in, auto residual, auto out) {
    Whole::decode(PartDecode<Whole>{t.t, t.p, t.temporary, t.cache}, in, residual, out);
  }
};
template <class R> using WrappedMlp = Wrapped<R, DenseMlp>;
template <class R> using WrappedAttention = Wrapped<R, SelfAttention>;
template <class R>
using OfWrapped = Of<R, Composed<BlockOrder::pre_norm, WrappedMlp, WrappedAttention>::template Block,
                     Composed<BlockOrder::sandwich_norm, WrappedMlp, WrappedAttention>::template Block>;
template <class R>
using OfOurs =
    Of<R, Composed<BlockOrder::pre_norm>::template Block, Composed<BlockOrder::sandwich_norm>::template Block>;

/// What two updates leave: the scales of the second one follow from what the first has recorded.
template <Recipe R> auto updated() {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  check_plan(step);
  std::vector<double> losses;
  for (const std::uint64_t number : {1, 2}) {
    losses.push_back(take_gradients(step, number));
    CHECK(step.read(step.decide({})).applied);
    step.update(adamw_hparams(), {});
  }
  return std::pair(losses, hash_of(step.parameters()));
}

template <class R> void check_updates() {
  const auto kept = updated<R>();
  CHECK((updated<With<R, EveryChoice>>() == kept));
}

struct Biases {
  static constexpr ParameterSelector parameters[] = {ParameterClass::bias};
};
template <class R> struct OfBiases : R { using finetuning = finetuning::TrainOnly<Biases>; };

constexpr LowRankSpec adapting(LowRankTargets targets) { return {.rank = 2, .alpha = 3, .targets = targets}; }
constexpr LowRankSpec of_inputs = adapting({.query = true, .value = false, .gate = true}),
                      of_outputs = adapting({.query = false, .value = false, .output = true, .down = true});

}  // namespace

TEST_CASE("every choice of what is computed again gives the same bits and maxima in fp8: all orders, Llama-like") {
  check_updates<InAllOrders<InFp8<llama_like>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits and maxima in fp8: all orders, GPT-2-like") {
  check_updates<InAllOrders<InFp8<gpt2_like>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits and maxima in fp8: a normed residual stream") {
  check_updates<InNormedOrder<InFp8<llama_like>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits and maxima in fp8: plain rotary, documents") {
  check_updates<InAllOrders<InFp8<InDocuments<PlainRotary<llama_like>>>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits and maxima in fp8: adapters of some products") {
  check_updates<Of<Adapted<InFp8<InDocuments<PlainRotary<llama_like>>>, of_inputs>, DecoderBlock>>();
  check_updates<Of<Adapted<InFp8<InDocuments<PlainRotary<llama_like>>>, of_outputs>, DecoderBlock>>();
}
TEST_CASE("biases beside frozen matrices in fp8 have the same bits with every choice, and in parts that get bf16") {
  using R = OfBiases<InFp8<gpt2_like>>;
  const auto rounded = updated<OfOurs<R>>();
  CHECK((updated<With<OfOurs<R>, EveryChoice>>() == rounded));
  CHECK((updated<OfWrapped<R>>() == rounded));
}
TEST_CASE("parts that get their input in bf16 have the bits and maxima in fp8 of those whose norms round it") {
  using R = InFp8<InDocuments<PlainRotary<llama_like>>>;
  static_assert(!Sublayer<R, BlockOrder::pre_norm, WrappedMlp>::rounds_in);
  static_assert(Sublayer<R, BlockOrder::pre_norm, DenseMlp>::rounds_in);
  const auto rounded = updated<OfOurs<R>>();
  CHECK((updated<OfWrapped<R>>() == rounded));
  CHECK((updated<With<OfWrapped<R>, EveryChoice>>() == rounded));
}

}  // namespace monomorph::testing
