#include <algorithm>
#include <monomorph/device/cuda.hpp>
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/optim/lion.hpp>
#include <vector>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {
struct Rotary : ByHand {
  static constexpr auto model = [] {
    auto model = ByHand::model;
    model.position = Position::rotary;
    return model;
  }();
};

// Unit 0: table 16 x 64, positions 8 x 64, final norm 2 x 64. A block: 12 D^2 + 13 D. All are multiples of 64.
constexpr std::int64_t unit_0 = 1024 + 512 + 128, per_block = 12 * 64 * 64 + 13 * 64;
// M = 2 sequences of 8 tokens. What a block saves, in rows of M: two norms' outputs, qkv, attention, the middle of the
// residual stream, up and activated.
constexpr std::int64_t M = 16, MD = M * 64, saved_cheap = 2 * MD + M * 256, saved_dear = M * 192 + 2 * MD + M * 256;
constexpr std::int64_t stream = 3 * MD + 2 * MD,
                       temporary = M * 192 + MD;  // inputs; gradient and head; dqkv and d(attention)
}  // namespace

TEST_CASE("bytes of one rank, by hand") {
  constexpr plan::Memory memory = plan::memory<ByHand>(1, 2);
  constexpr std::int64_t params = unit_0 + 2 * per_block;
  CHECK(memory.master == 4 * params);
  CHECK(memory.compute_params == 0);
  CHECK(memory.gathered_params == 0);
  CHECK(memory.gradients == 4 * params);
  CHECK(memory.gathered_gradients == 0);
  CHECK(memory.optimizer_state == 8 * params);
  CHECK(memory.activations == 4 * (stream + 2 * (saved_cheap + saved_dear) + temporary));
  // rows of 16 (padded to 64): two means, two deviations, two heads' log-sum-exp a block; two and the losses of a chunk
  // for the head, and its 16 x 16 logits
  CHECK(memory.statistics == 4 * (2 * 5 * 64 + 3 * 64 + 256));
  CHECK(memory.rotary == 0);
  CHECK(memory.scalars == 4608);
  CHECK(memory.total() == 4 * 4 * params + memory.activations + memory.statistics + memory.scalars);
  CHECK(plan::bytes_per_rank<ByHand>(1, 2) == memory.total());
}

TEST_CASE("bytes of one of four ranks, by hand") {
  constexpr plan::Memory memory = plan::memory<Bf16>(4, 2);
  constexpr std::int64_t own_0 = 448, own_block = 12'544;  // 1664 / 4 and 49,984 / 4, up to multiples of 64
  constexpr std::int64_t own = own_0 + 2 * own_block;
  CHECK(memory.master == 4 * own);
  CHECK(memory.compute_params == 2 * 2 * own_block);  // the table's is a part of the whole, which stays
  CHECK(memory.gradients == 4 * own);
  CHECK(memory.optimizer_state == 8 * own);
  CHECK(memory.gathered_params == 2 * (4 * own_0 + 2 * 4 * own_block));  // the tied table and two blocks
  CHECK(memory.gathered_gradients == 4 * (4 * own_0 + 2 * 4 * own_block));
}

namespace {
template <class R> constexpr plan::Memory of_inference(int ranks, std::int64_t micro_batch) {
  return plan::memory_with<R>(plan::with(plan::strategy_of<R>(ranks), plan::Purpose::inference), ranks, micro_batch);
}
}  // namespace

TEST_CASE("bytes of a rank that goes forward alone, by hand") {
  constexpr plan::Memory memory = of_inference<ByHand>(1, 2);
  CHECK(memory.compute_params == 4 * (unit_0 + 2 * per_block));
  // The residual stream before and behind a layer, and what one block computes with.
  CHECK(memory.activations == 4 * (2 * MD + saved_cheap + saved_dear + temporary));
  CHECK(memory.statistics == 4 * (3 * 64 + 256));
  CHECK(memory.total() == memory.compute_params + memory.activations + memory.statistics + memory.scalars);
  CHECK(memory.checkpoint_staging == 0);
}

TEST_CASE("bytes of one of four ranks that go forward alone, by hand") {
  constexpr plan::Memory memory = of_inference<Bf16>(4, 2), trained = plan::memory<Bf16>(4, 2);
  CHECK(memory.compute_params == trained.compute_params);
  CHECK(memory.gathered_params == trained.gathered_params);
  CHECK(memory.arena() ==
        memory.compute_params + memory.gathered_params + memory.activations + memory.statistics + memory.scalars);
}

TEST_CASE("without micro-batches inference has no activations, however a policy keeps them") {
  constexpr plan::Memory memory = of_inference<ByHand>(1, 0);
  CHECK(memory.total() == memory.compute_params + memory.scalars);
  CHECK(of_inference<CheckpointedBy<checkpointing::Offload<>>>(1, 2).total() == of_inference<ByHand>(1, 2).total());
}

namespace {
struct InNarrowLogits : ByHand {
  using precision = monomorph::precision::NarrowLogits<Bf16::precision>;
};
}  // namespace

TEST_CASE("logits of 16 bits lie among the activations, with their gradients in their place") {
  constexpr plan::Memory wide = plan::memory<Bf16>(1, 2), narrow = plan::memory<InNarrowLogits>(1, 2);
  CHECK(narrow.activations == wide.activations);
  CHECK(narrow.statistics == wide.statistics - 4 * 256);
  CHECK(narrow.total() == wide.total() - 4 * 256);
}

namespace {
template <class R> struct Capped : R {
  static constexpr auto model = [] {
    auto model = R::model;
    model.soft_cap = {.scores = 50, .logits = 30};
    return model;
  }();
};
}  // namespace

TEST_CASE("the gradients of logits with a soft cap have a place of their own, as those that are narrower have") {
  constexpr plan::Memory bare = plan::memory<ByHand>(1, 2), capped = plan::memory<Capped<ByHand>>(1, 2);
  CHECK(capped.activations == bare.activations + 4 * 256);  // 16 x 16 logits
  CHECK(capped.total() == bare.total() + 4 * 256);
  CHECK(plan::memory<Capped<Bf16>>(1, 2).total() == plan::memory<Bf16>(1, 2).total());
  CHECK(plan::memory<Capped<InNarrowLogits>>(1, 2).total() == plan::memory<InNarrowLogits>(1, 2).total() + 2 * 256);
}

namespace {
struct WithMuon : ByHand {
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};
struct WithLion : ByHand {
  using optimizer = optim::Bf16State<optim::Lion>;
};
}  // namespace

TEST_CASE("state of an optimizer for matrices and one for the rest, by hand") {
  constexpr plan::Memory memory = plan::memory<WithMuon>(1, 2);
  constexpr std::int64_t matrices = 12 * 64 * 64, vectors = 13 * 64;
  CHECK(memory.optimizer_state == 4 * (2 * unit_0 + 2 * (matrices + 2 * vectors)));
  // Each of a block's matrices, which are small: itself twice, and two products of 64 x 64.
  CHECK(memory.optimizer_workspace == 4 * (2 * matrices + 6 * 2 * 64 * 64));
  constexpr plan::Memory of_four = plan::memory<WithMuon>(4, 2);
  // The first of a block's four shards has the norm's 128 elements and then qkv's matrix, whose bias of 192 the second
  // has; the last one has most of the matrix that leads down, and a bias.
  CHECK(of_four.optimizer_state >= 4 * 2 * (12'544 + 128));
  CHECK(of_four.optimizer_state < 4 * 2 * 12'544 * 2);
  CHECK(plan::memory<ByHand>(1, 2).optimizer_workspace == 0);
  CHECK(plan::memory<WithLion>(1, 2).optimizer_state == 2 * (unit_0 + 2 * per_block));
}

namespace {
struct WithBf16Muon : ByHand {
  using optimizer = optim::ByClass<optim::Bf16Muon, optim::AdamW>;
};
template <class R> struct InBf16 : R { using optimizer = WithBf16Muon::optimizer; };
struct WithMuonOnGpu : WithMuon {
  using device = device::Cuda;
};
/// Keys and values between queries and what leads back, which have one shape.
struct GroupedQueries : WithMuonOnGpu {
  static constexpr auto model = [] {
    auto model = ByHand::model;
    model.n_kv_heads = 1;
    return model;
  }();
};
/// Matrices of a block of 1,024 x 1,024 (four), 8,192 x 1,024 (two) and 1,024 x 8,192.
struct WideOnGpu : WithMuonOnGpu {
  static constexpr auto model = [] {
    auto model = ByHand::model;
    model.d_model = 1024;
    model.d_ff = 8192;
    model.activation = Activation::swiglu;
    return model;
  }();
};
/// Room for five of a block's six matrices of 64 x 64.
struct NarrowBatches : device::Cuda {
  static constexpr std::int64_t batch_scratch_elements = 5 * 4 * 64 * 64;
};
struct InNarrowBatches : WithMuon {
  static constexpr auto model = [] {
    auto model = ByHand::model;
    model.d_ff = 64;
    return model;
  }();
  using device = NarrowBatches;
};

template <class R> std::vector<plan::TransformedMatrix> transformed() {
  std::vector<plan::TransformedMatrix> matrices;
  plan::for_each_transformed<R>(1, [&](const plan::TransformedMatrix& of) { matrices.push_back(of); });
  return matrices;
}
}  // namespace

TEST_CASE("an iteration in bf16 has half of the scratch memory") {
  const auto check = [](auto in_fp32, auto in_bf16) {
    CHECK(plan::memory<decltype(in_fp32)>(1, 2).optimizer_workspace > 0);
    CHECK(2 * plan::memory<decltype(in_bf16)>(1, 2).optimizer_workspace ==
          plan::memory<decltype(in_fp32)>(1, 2).optimizer_workspace);
  };
  check(WithMuon{}, WithBf16Muon{});
  check(WithMuonOnGpu{}, InBf16<WithMuonOnGpu>{});
  check(WideOnGpu{}, InBf16<WideOnGpu>{});
}

TEST_CASE("matrices of one shape have scratch memory equally far apart, and on a GPU large ones, too") {
  for (const auto& matrices :
       {transformed<WithMuon>(), transformed<WithMuonOnGpu>(), transformed<GroupedQueries>(), transformed<WideOnGpu>()})
    for (const plan::TransformedMatrix& first : matrices) {
      std::vector<std::int64_t> places;
      for (const plan::TransformedMatrix& of : matrices)
        if (first.side_by_side && of.matrix.shape == first.matrix.shape) places.push_back(of.workspace.offset);
      for (std::size_t i = 1; i < places.size(); ++i)
        CHECK(places[i] == places[0] + static_cast<std::int64_t>(i) * first.workspace.shape.elements());
    }
  // Four of 1,024 x 1,024, each twice and with two products of it; the others are too large for that.
  const auto wide = transformed<WideOnGpu>();
  REQUIRE(wide.size() == 7);
  CHECK(std::ranges::count(wide, true, &plan::TransformedMatrix::side_by_side) == 4);
  constexpr std::int64_t mebi = std::int64_t{1} << 20;
  CHECK(plan::optimizer_workspace_elements<WideOnGpu>() == larger_of(4 * 4 * mebi, (2 * 8 + 2) * mebi));
}

TEST_CASE("a batch of matrices that is full is followed by another one") {
  std::vector<std::int64_t> places;
  for (const plan::TransformedMatrix& of : transformed<InNarrowBatches>()) places.push_back(of.workspace.offset);
  constexpr std::int64_t scratch = 4 * 64 * 64;
  CHECK(places == std::vector<std::int64_t>{0, scratch, 2 * scratch, 3 * scratch, 4 * scratch, 0});
  CHECK(plan::optimizer_workspace_elements<InNarrowBatches>() == 5 * scratch);
}

TEST_CASE("what activation checkpointing saves, by hand") {
  using namespace monomorph::checkpointing;
  const auto activations = []<class Checkpointing>(Checkpointing) {
    return plan::memory<CheckpointedBy<Checkpointing>>(1, 2).activations / 4;
  };
  CHECK(activations(EveryBlock{}) == stream + (saved_cheap + saved_dear) + temporary);
  CHECK(activations(EveryNthBlock<2>{}) ==
        stream + 2 * (saved_cheap + saved_dear) + temporary);  // one kept, one scratch
  CHECK(activations(RecomputeCheap{}) == stream + saved_cheap + 2 * saved_dear + temporary);
}

TEST_CASE("rotary tables are a cosine and a sine for each position and pair of features") {
  CHECK(plan::memory<Rotary>(1, 2).rotary == 2 * (8 * 16) * 4);
}

namespace {
/// Twice the context, as products in fp8 have tokens by the sixteen.
struct OfSixteenTokens : Bf16 {
  static constexpr auto model = [] {
    auto model = Bf16::model;
    model.context_length = 16;
    return model;
  }();
};
struct InFp8 : OfSixteenTokens {
  using precision = monomorph::precision::Fp8Mixed;
};
constexpr std::int64_t kept_weights = 12 * 64 * 64 / 2;  // of a block, two in an element of bf16

/// Of how many of its products the second block keeps the weights as backward reads them.
template <class R> constexpr int kept_products(int ranks, plan::Purpose purpose = plan::Purpose::training) {
  const plan::Activations<R> plan(2, ranks, plan::checkpointing_values<typename R::checkpointing>, purpose);
  const auto saved = plan.saved(DecoderBlock<R>{}, plan::layer_of_block<R>(1));
  int kept = 0;
  for (const auto& of : {saved.attention.part.weights.of, saved.mlp.part.weights.of})
    for (int i = 0; i < 2; ++i) kept += of[i].present() ? 1 : 0;
  return kept;
}
struct Norms {
  static constexpr ParameterSelector parameters[] = {ParameterClass::norm};
};
template <class R, class Policy> struct Sharding : R { using sharding = Policy; };
template <class R, class Policy> struct Checkpointing : R { using checkpointing = Policy; };
template <class R, class Policy> struct Finetuning : R { using finetuning = Policy; };
}  // namespace

TEST_CASE("what products in fp8 take besides, by hand") {
  constexpr plan::Memory bf16 = plan::memory<OfSixteenTokens>(1, 2), fp8 = plan::memory<InFp8>(1, 2);
  // Two histories in each of two blocks, of six tensors and sixteen updates (padded to 128), as parameters are kept.
  constexpr std::int64_t histories = 2 * 2 * 128;
  CHECK(fp8.master - bf16.master == 4 * histories);
  CHECK(fp8.compute_params - bf16.compute_params == 2 * histories);
  CHECK(fp8.gradients - bf16.gradients == 4 * histories);
  // Moments are planned for all of a unit, though those of what a block updates itself stay zero.
  CHECK(fp8.optimizer_state - bf16.optimizer_state == 8 * histories);
  // Of 32 tokens the tensors of the MLP's first product and the gradient of its activation, which take more than those
  // of attention beside its gradients, and the gradient of a part's input. Two norms' outputs and the activation are
  // kept in 8 bits, and so are the weights.
  constexpr std::int64_t room = 32 * 256 + 32 * 64 + 256 * 64, gradients = 32 * 256 + 32 * 64,
                         without = 32 * 192 + 32 * 64, kept = 32 * (64 + 64 + 256) / 2;
  CHECK(fp8.activations - bf16.activations == 2 * (room + gradients - without - 2 * kept + 2 * kept_weights));
  CHECK(fp8.statistics - bf16.statistics == 4 * 2 * 2 * 64);  // two products' scales and inverses (padded)
  CHECK(fp8.scalars - bf16.scalars == 8 * 64);                // 2 x 12 maxima (padded)
  CHECK(fp8.total() == fp8.arena());
  CHECK(plan::params<InFp8> == plan::params<OfSixteenTokens>);
}

TEST_CASE("products in fp8 keep their weights from forward to backward where that is a small part of the memory") {
  namespace m = monomorph;
  CHECK(kept_products<InFp8>(1) == 4);  // of ranks that would split parameters there is one
  CHECK(kept_products<InFp8>(4) == 0);
  CHECK(kept_products<Sharding<InFp8, m::sharding::Replicate>>(4) == 4);
  CHECK(kept_products<Sharding<InFp8, m::sharding::ShardGradOp>>(4) == 4);
  CHECK(kept_products<Sharding<InFp8, m::sharding::HostParameters<m::sharding::Replicate>>>(1) == 0);
  CHECK(kept_products<Checkpointing<InFp8, m::checkpointing::RecomputeCheap>>(1) == 4);
  CHECK(kept_products<Checkpointing<InFp8, m::checkpointing::EveryBlock>>(1) == 0);
  CHECK(kept_products<Checkpointing<InFp8, m::checkpointing::Offload<>>>(1) == 0);
  constexpr LowRankSpec adapters{.rank = 2, .alpha = 1};
  CHECK(kept_products<Finetuning<InFp8, m::finetuning::LowRank<adapters>>>(1) == 0);
  CHECK(kept_products<Finetuning<InFp8, m::finetuning::TrainOnly<Norms>>>(1) == 0);
  CHECK(kept_products<InFp8>(1, plan::Purpose::inference) == 0);
  CHECK(kept_products<OfSixteenTokens>(1) == 0);
}

namespace {
struct OnGpu : Bf16 {
  using device = device::Cuda;
};
struct WithLongRows : OnGpu {
  static constexpr auto model = [] {
    auto model = Bf16::model;
    model.context_length = 65'536;
    return model;
  }();
};
}  // namespace

TEST_CASE("what lies in a GPU's memory beside the arena, by hand") {
  constexpr std::int64_t mebibyte = std::int64_t{1} << 20;
  constexpr plan::Memory here = plan::memory<Bf16>(4, 2), there = plan::memory<OnGpu>(4, 2);
  CHECK(here.device_workspace == 0);
  CHECK(here.device_context == 0);
  CHECK(here.in_main_memory() == here.total());
  CHECK(there.device_workspace == (64 + 4 * 4 + 64) * mebibyte);  // of products, the ring of ids, a recorded step
  CHECK(there.device_context == 640 * mebibyte);
  CHECK(here.device_communication == 0);
  constexpr std::int64_t of_collectives = (128 + 512) * mebibyte + (std::int64_t{64} << 10);
  CHECK(there.device_communication == of_collectives);
  CHECK(plan::memory<OnGpu>(1, 2).device_communication == 0);
  CHECK(there.host_staging == 64 * mebibyte);
  CHECK(there.total() == there.arena() + (144 + 640 + 64) * mebibyte + of_collectives + there.communication);
  CHECK(there.in_main_memory() == 64 * mebibyte + there.communication);
  CHECK(there.budgeted() == there.total() - there.in_main_memory());
  CHECK(here.budgeted() == here.total());
  // Beside all of it, a copy of the masters and moments that a rank holds.
  CHECK(here.checkpoint_staging == here.master + here.optimizer_state);
  CHECK(there.checkpoint_staging == here.checkpoint_staging);
  // Of a row of 65,536 tokens the gradients of one head at a time: 16 bits for each pair, and a number for each query.
  CHECK(plan::memory<WithLongRows>(4, 2).device_workspace ==
        (std::int64_t{2} << 32) + (std::int64_t{4} << 16) + 256 + (4 * 4 + 64) * mebibyte);
  // None of which a pass forward alone has.
  CHECK(of_inference<WithLongRows>(4, 2).device_workspace == there.device_workspace);
}

TEST_CASE("the plan's workspace of attention on a GPU is what cuDNN asks for, in parts where that is much") {
  constexpr auto workspace = [](std::int64_t batch, std::int64_t tokens, std::int64_t heads, std::int64_t kv_heads,
                                std::int64_t head_dim) {
    return device::Cuda::workspace_bytes({batch, tokens, heads, kv_heads, head_dim, 2, {}}) - (std::int64_t{16} << 20) -
           device::Cuda::recording_bytes;
  };
  CHECK(workspace(32, 1024, 12, 12, 64) == 806'879'488);  // as cuDNN 9.19 says (tests/gpu/cudnn_plans)
  CHECK(workspace(64, 1024, 12, 12, 64) == 806'879'488);  // twice as much, in two parts
  CHECK(workspace(1, 8192, 32, 8, 128) == (4'430'233'856 - 256) / 4 + 256);  // in four, of two key heads each
  CHECK(workspace(2, 100, 3, 3, 64) == std::int64_t{64} << 20);              // less than products have
  // What can not be divided is not: one head; and rows of the statistic that begin between two accesses.
  CHECK(workspace(1, 32768, 1, 1, 64) == 2 * 32768LL * 32768 + 4 * 32768 + 256);
  CHECK(workspace(1024, 1026, 1, 1, 64) > device::most_attention_workspace_bytes);
}

TEST_CASE("the plan's workspace of attention that cuDNN does not take is that of our kernels") {
  constexpr std::int64_t of_ids = (std::int64_t{16} << 20) + device::Cuda::recording_bytes,
                         of_products = std::int64_t{64} << 20;
  PassExtent extent{
      .batch = 64, .tokens = 1024, .heads = 12, .kv_heads = 12, .head_dim = 64, .compute_bytes = 2, .mask = {}};
  const auto workspace = [&] { return device::Cuda::workspace_bytes(extent) - of_ids; };
  CHECK(workspace() > of_products);
  extent.within_documents = true;
  CHECK(workspace() == of_products);
  extent.within_documents = false, extent.mask = {.prefix = 16};
  CHECK(workspace() == of_products);
  extent.mask = {}, extent.tiled = false;
  CHECK(workspace() == of_products);
  extent.tiled = true, extent.capped = true;
  CHECK(workspace() == of_products);
  extent.capped = false;
  extent.tiled = true, extent.head_dim = 256;
  CHECK(workspace() == of_products);
  extent.head_dim = 64, extent.compute_bytes = 4;
  CHECK(workspace() == of_products);
  extent.compute_bytes = 8, extent.batch = 32 * 64;  // a number of 8 bytes for each query
  CHECK(device::Cuda::workspace_bytes(extent) - 4 * device::Cuda::id_part_bytes(4 * extent.batch * extent.tokens) -
            device::Cuda::recording_bytes ==
        8 * 32 * 64 * 12 * 1024LL);
}
