// Rules about blocks and other layers, their tensors and their parts, kinds of model, and what layers and policies say
// together.
#include "gate_sweep.hpp"

#include <monomorph/block/autograd_block.hpp>
#include <monomorph/block/masked_language_head.hpp>

namespace layer_sweep {

using namespace monomorph;
using namespace monomorph::testing;

struct Empty {};

// Parts of blocks, and blocks.
template <class R> struct WithoutProject : DenseMlp<R> {
  static constexpr double projection_flops_per_token() { return 1; }
};
template <class R> using OfPart = typename Composed<BlockOrder::parallel, WithoutProject>::template Block<R>;
template <class R> struct WithoutParams : DecoderBlock<R> { using Params = Empty; };
template <class R> struct WithoutTemporary : DecoderBlock<R> { using Temporary = Empty; };
template <class R> struct WithoutFlops : DecoderBlock<R> {
  static constexpr double matmul_flops_per_token() { return 1; }
};
template <class R> struct WithoutRecompute : DecoderBlock<R> { static void recompute(); };
template <class R> struct WithoutDecodeTemporary : DecoderBlock<R> { using DecodeTemporary = Empty; };
template <class R> struct WithoutCounters : DecoderBlock<R> { static constexpr double n_counters = 1; };
template <class R> struct OwnRuleOfBlock : DecoderBlock<R> { template <class Recipe> using rules = RuleList<Own<2>>; };
/// The parts of a block of one's own.
template <class R> struct Plain {
  struct Params : ParameterLayout {
    constexpr explicit Params(int = 0) { take_tensor("plain.weight", {16, 16}, ParameterClass::linear, {}); }
  };
  struct Saved {
    constexpr Saved(SavedPlacement, SavedPlacement, std::int64_t) {}
  };
  using Temporary = Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 512; }
  static void forward(const auto& tensors, const auto& saved);
  static void recompute(const auto& tensors, const auto& saved);
  static void backward(const auto& tensors, const auto& saved);
};
template <class R> struct WithoutSaved : Plain<R> { using Saved = Empty; };
/// What attends, but does not know of documents.
template <class R> struct Mixer : Plain<R> {
  static constexpr double attention_flops_per_token() { return 1; }
};
/// Around the same parts, but of its products no maxima are known.
template <class R> struct Unscaled : DecoderBlock<R> { static constexpr int n_maxima = 0; };
template <class R> struct Differentiated : AutogradBlock<Differentiated<R>> {
  static at::Tensor compute(const AutogradInput& in);
  using Params = typename Plain<R>::Params;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
};
struct WithoutAutograd : device::Cpu {
  using kernel_sets = KernelSets<>;
};

/// Names for more tensors than a block may have.
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static_assert(letters.size() >= ParameterLayout::capacity);

/// Tensors that are not as they must be.
enum class Tensors { too_many, of_one_name, empty, beyond_unit, in_one_place, begun_below_zero, unequal };
template <class R, Tensors wrong> struct OfTensors : DecoderBlock<R> {
  struct Params : DecoderBlock<R>::Params {
    constexpr explicit Params(int block = 0) : DecoderBlock<R>::Params(block) {
      constexpr auto linear = ParameterClass::linear;
      if (wrong == Tensors::too_many)
        for (int i = 0; i < ParameterLayout::capacity; ++i) this->take_tensor(letters.substr(i, 1), {1, 1}, linear, {});
      if (wrong == Tensors::of_one_name)
        for (int i = 0; i < 2; ++i) this->take_tensor("twice", {1, 1}, linear, {});
      if (wrong == Tensors::empty) this->add_part("nothing", this->take({1, 1}), 0, 0, linear, {});
      if (wrong == Tensors::beyond_unit) this->add_part("beyond", this->take({1, 64}), 1, 1, linear, {});
      if (wrong == Tensors::in_one_place) {
        const Slice slice = this->take({1, 1});
        this->add_part("one", slice, 0, 1, linear, {});
        this->add_part("other", slice, 0, 1, linear, {});
      }
      if (wrong == Tensors::begun_below_zero) this->take_tensor("begun", {1, 1}, linear, {.std = -1});
      if (wrong == Tensors::unequal && block == 1) this->take_tensor("one", {1, 1}, linear, {});
    }
  };
};
template <Tensors wrong> struct WithTensors { template <class R> using Block = OfTensors<R, wrong>; };
template <Tensors wrong> using OfWrongTensors = OfBlock<WithTensors<wrong>::template Block>;

// Kinds of model: a decoder in all but name, with a layer of no parameters between its blocks and its head.
enum class Kind {
  lacks_layers,
  interrupts_blocks,
  ends_with_embedding,
  lacks_parts,
  ties_nothing,
  twice_named,
  cannot_decode,
  own_head
};
template <Kind> struct Spec {
  DecoderSpec decoder{};
  friend constexpr bool operator==(const Spec&, const Spec&) = default;
};
template <class R> struct Layer {
  static constexpr UnitKind unit_kind = UnitKind::head;
  struct Params : ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  using Saved = Nothing;
  using Temporary = Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void forward(const LayerTensors<R>& t, const Saved& saved);
  static void backward(const LayerTensors<R>& t, const Saved& saved);
};
template <class R> struct BlockLike : Plain<R> { static constexpr UnitKind unit_kind = UnitKind::block; };
template <class R> struct WithoutForward : Layer<R> { static void forward(); };
template <class R> struct Named : Layer<R> {
  struct Params : ParameterLayout {
    constexpr explicit Params(int = 0) { take_tensor("embedding.weight", {1, 64}, ParameterClass::norm, {}); }
  };
};
template <class R> struct Last : Layer<R> {
  using DecodeCache = Nothing;
  using DecodeTemporary = Nothing;
  static void decode(const DecodeTensorsOf<R>& t);
};
template <class R> struct LastEmbedding : Last<R> { static constexpr UnitKind unit_kind = UnitKind::embedding; };
template <class R> struct LastWithoutDecode : Layer<R> {};

template <Kind kind, template <class> class Between, template <class> class Head, bool tied> struct OwnKind {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const Spec<kind>& model) {
    DecoderSpec trunk = model.decoder;
    trunk.tied_head = tied;
    return trunk;
  }
  template <class Blocks>
  using layers = Joined<Stack<Run<TokenEmbedding, 1>>, Blocks, Stack<Run<Between, 1>, Run<Head, 1>>>;
};
template <Kind kind> using OfKind = OfModel<Spec<kind>{.decoder = WholeRecipe::model}>;

}  // namespace layer_sweep

#define KIND(kind) layer_sweep::Spec<layer_sweep::Kind::kind>
MONOMORPH_SPEC(KIND(interrupts_blocks), decoder);
MONOMORPH_SPEC(KIND(lacks_layers), decoder);
MONOMORPH_SPEC(KIND(ends_with_embedding), decoder);
MONOMORPH_SPEC(KIND(lacks_parts), decoder);
MONOMORPH_SPEC(KIND(ties_nothing), decoder);
MONOMORPH_SPEC(KIND(twice_named), decoder);
MONOMORPH_SPEC(KIND(cannot_decode), decoder);
MONOMORPH_SPEC(KIND(own_head), decoder);

namespace monomorph {
using layer_sweep::Kind, layer_sweep::OwnKind;
template <> struct ModelKind<KIND(lacks_layers)> {
  static constexpr ModelOutput output = ModelOutput::logits;
  static constexpr DecoderSpec trunk(const KIND(lacks_layers) & model) { return model.decoder; }
};
template <>
struct ModelKind<KIND(interrupts_blocks)>
    : OwnKind<Kind::interrupts_blocks, layer_sweep::BlockLike, VocabularyHead, true> {};
template <>
struct ModelKind<KIND(ends_with_embedding)>
    : OwnKind<Kind::ends_with_embedding, layer_sweep::Layer, layer_sweep::LastEmbedding, false> {};
template <>
struct ModelKind<KIND(lacks_parts)> : OwnKind<Kind::lacks_parts, layer_sweep::WithoutForward, VocabularyHead, true> {};
template <>
struct ModelKind<KIND(ties_nothing)> : OwnKind<Kind::ties_nothing, layer_sweep::Layer, layer_sweep::Last, true> {};
template <>
struct ModelKind<KIND(twice_named)> : OwnKind<Kind::twice_named, layer_sweep::Named, VocabularyHead, true> {};
template <>
struct ModelKind<KIND(cannot_decode)>
    : OwnKind<Kind::cannot_decode, layer_sweep::Layer, layer_sweep::LastWithoutDecode, false> {};
template <> struct ModelKind<KIND(own_head)> : OwnKind<Kind::own_head, layer_sweep::Layer, layer_sweep::Last, false> {};
}  // namespace monomorph
#undef KIND

namespace layer_sweep {

using checkpointing::Selective;
template <class R> using Parallel = Composed<BlockOrder::parallel>::Block<R>;
struct OfParallel : WholeRecipe {
  using layers = Stack<Run<Parallel, 2>>;
};
using Window = attention::SlidingWindow<8>;
using InFp8 = In<precision::Fp8Mixed>;
constexpr MixtureSpec limited{.n_experts = 4, .top_k = 2, .capacity_factor = 1.25};

using Changes = std::tuple<
    OfBlock<OfPart>, OfBlock<WithoutParams>, OfBlock<WithoutSaved>, OfBlock<WithoutTemporary>, OfBlock<WithoutFlops>,
    OfBlock<WithoutRecompute>, OfBlock<WithoutDecodeTemporary>, OfBlock<WithoutCounters>, OfBlock<OwnRuleOfBlock>,
    OfBlock<Plain>, OfWrongTensors<Tensors::too_many>, OfWrongTensors<Tensors::of_one_name>,
    OfWrongTensors<Tensors::empty>, OfWrongTensors<Tensors::beyond_unit>, OfWrongTensors<Tensors::in_one_place>,
    OfWrongTensors<Tensors::begun_below_zero>, OfWrongTensors<Tensors::unequal>,
    Both<OfBlock<Differentiated>, Computing<WithoutAutograd>>,
    Both<OfBlock<Mixer>, Attending<attention::WithinDocuments>>,
    Both<OfBlock<DecoderBlockWith<Window>::Block>, Attending<attention::WithinDocuments>>,
    Both<OfBlock<Unscaled>, InFp8>, Both<OfModel<with([](DecoderSpec& m) { m.d_ff = 72; })>, InFp8>,
    Both<FinetunedBy<finetuning::FreezeFirst<1>>, InFp8>, OfKind<Kind::lacks_layers>, OfKind<Kind::interrupts_blocks>,
    OfKind<Kind::ends_with_embedding>, OfKind<Kind::lacks_parts>, OfKind<Kind::ties_nothing>, OfKind<Kind::twice_named>,
    OfKind<Kind::cannot_decode>, Both<OfKind<Kind::own_head>, Pursuing<objective::Distillation<WholeRecipe>>>,
    Both<Both<OfModel<MaskedLanguageSpec{.trunk = WholeRecipe::model}>, Pursuing<objective::Preferences>>,
         Attending<attention::WithinDocuments>>,
    Both<Both<OfBlock<Parallel>, Expecting<Expect{.params = plan::params<OfParallel>}>>,
         CheckpointedBy<Selective<Recompute{.projection = true}>>>,
    Both<Both<Both<OfModel<with([](DecoderSpec& m) { m.bias.mlp = false; })>, OfBlock<Mixture<limited>::Block>>,
              Pursuing<objective::Preferences>>,
         Attending<attention::WithinDocuments>>,
    ScheduledBy<Empty>, ObservedBy<Empty>>;
struct LayerChanges : GateChanges<Changes> {};
using Swept = Sweep<LayerChanges>;
[[maybe_unused]] const int told = Swept::tell();

TEST_CASE("each change of layers, and of what layers and policies say together, breaks one rule") {
  for (int i = 0; i < Swept::n_changes; ++i) {
    INFO("change " << i << " breaks " << text(Swept::alone[i]));
    CHECK(Swept::alone[i].n == 1);
  }
}

TEST_CASE("two changes of layers and policies break the rules of both, if those are of one stage") {
  Swept swept;
  constexpr const char* plain = "a block of one's own knows nothing of products in fp8";
  swept.check_pairs({{"ScaledWidthsFillAccesses", "AttentionIsRead", plain},
                     {"ScaledWidthsFillAccesses", "BlockKeepsWithinDocuments", plain}},
                    {{"monomorph::rule::BlockScalesProducts", plain},
                     {"monomorph::rule::BlockKeepsWithinDocuments",
                      "a block of one's own knows nothing of documents, within which an objective over sequences has "
                      "attention keep"}});
  CHECK(swept.n_pairs > 50);
}

}  // namespace layer_sweep
