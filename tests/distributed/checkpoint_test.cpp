// A checkpoint of several ranks holds the state of one, and gives it back to any number of them under any strategy.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/ranks.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensors.hpp"
#include "support/training_program.hpp"
#include "train/run/saving/staged_state.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/background_save.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <future>
#include <mutex>
#include <stdexcept>

namespace monomorph::testing {
namespace {

template <class Strategy, class Precision, class Checkpointing> struct Divided : gpt2_like {
  using sharding = Strategy;
  using precision = Precision;
  using checkpointing = Checkpointing;
};
/// No two of them have more in common than that parameters and moments are in fp32.
using Full = Divided<sharding::FullShard, precision::Fp32, checkpointing::KeepAll>;
using OptimizerOnly = Divided<sharding::ShardOptimizer, precision::Bf16Mixed, checkpointing::EveryBlock>;
using GradOp = Divided<sharding::ShardGradOp, precision::Fp16Mixed, checkpointing::EveryNthBlock<2>>;
using Hybrid = Divided<sharding::HybridShard<2>, precision::Bf16MixedReducingBf16, checkpointing::RecomputeCheap>;
using HybridGradOp = Divided<sharding::HybridShardGradOp<2>, precision::Fp32, checkpointing::Fraction<1, 3>>;
using Once =
    Divided<sharding::ReduceOncePerStep<sharding::FullShard>, precision::Bf16Mixed, checkpointing::EveryNthBlock<3>>;
using Replicated = Divided<sharding::Replicate, precision::Bf16Mixed, checkpointing::EveryBlock>;
/// Those whose state is in bf16.
using PureFull = Divided<sharding::FullShard, precision::Bf16Pure, checkpointing::KeepAll>;
using PureHybrid = Divided<sharding::HybridShardGradOp<2>, precision::Bf16Pure, checkpointing::EveryBlock>;

/// All that can wait in the host's memory does.
struct OnHost : Divided<sharding::HostParameters<sharding::FullShard>, precision::Bf16Mixed, checkpointing::Offload<>> {
  using optimizer = optim::HostState<optim::AdamW>;
};

/// Parameters and moments as all ranks hold them together.
class WholeState {
 public:
  void add(train::TrainingStep& step) {
    const std::lock_guard lock(mutex_);
    for (const auto& parts : {step.parameters(), step.optimizer_state()})
      for (const train::StateTensor& part : parts) {
        Values& values = tensors_[part.name];
        values.resize(part.shape.elements(), std::nan(""));
        std::ranges::copy(values_of(part.view), values.begin() + part.first);
      }
  }
  const Tensors& tensors() const { return tensors_; }

 private:
  std::mutex mutex_;
  Tensors tensors_;
};

constexpr train::RunState state{.step = 3, .updates = 2, .samples = 24, .tokens = 100};

/// Three updates with gradients of the parameters' first values, so that moments are not zero.
template <Recipe R> Tensors save(int ranks, const std::string& folder) {
  WholeState whole;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    train::Step<R> step(*communicator, 2, 3);
    for (int i = 1; i <= 3; ++i) {
      accumulate(step, sequences.from(0, R::model.context_length), i, {});
      gradient_norm(step);
      update(step, i, 1e-3);
    }
    whole.add(step);
    if (train::StagedState(step, true).bytes() > plan::memory<R>(ranks, 2).checkpoint_staging)
      throw std::logic_error("the copy of the state is larger than planned");
    CHECK(train::save_run(folder, {.latest = 2}, training_program<R>(), {}, state, {}, step, *communicator).empty());
  });
  return whole.tensors();
}

template <Recipe R> Tensors restore(int ranks, const std::string& folder) {
  WholeState whole;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    train::Step<R> step(*communicator, 2, 4);
    const auto run =
        together(*communicator, "restore", [&] {  // a rank that leaves first breaks the others' connections
          return train::restore_run(train::find_checkpoint(folder), training_program<R>(), step, true);
        });
    CHECK(run.state.samples == state.samples);
    whole.add(step);
  });
  return whole.tensors();
}

struct Restored {
  const char* name;
  Tensors (*on_ranks)(int ranks, const std::string& folder);
  std::vector<int> ranks;
};
const std::vector<Restored> in_fp32{{"Full", restore<Full>, {1, 2, 4}},
                                    {"GradOp", restore<GradOp>, {4}},
                                    {"OptimizerOnly", restore<OptimizerOnly>, {4}},
                                    {"Hybrid", restore<Hybrid>, {4}},
                                    {"HybridGradOp", restore<HybridGradOp>, {4}},
                                    {"Once", restore<Once>, {2}},
                                    {"Replicated", restore<Replicated>, {2}}};
const std::vector<Restored> in_bf16{{"PureFull", restore<PureFull>, {1, 2}}, {"PureHybrid", restore<PureHybrid>, {4}}};

template <Recipe From> void check_restoring(int ranks, int n_files, const std::vector<Restored>& others) {
  CAPTURE(ranks, monomorph::type_name<typename From::sharding>(), monomorph::type_name<typename From::precision>());
  const TemporaryFolder folder;
  const Tensors saved = save<From>(ranks, folder.path());
  CHECK(runtime::read_checkpoint_metadata(folder / "step_00000003").n_ranks == n_files);
  for (const Restored& other : others)
    for (const int other_ranks : other.ranks) {
      CAPTURE(other.name, other_ranks);
      CHECK(other.on_ranks(other_ranks, folder.path()) == saved);
    }
}

}  // namespace

TEST_CASE("a checkpoint loads with the same bits on other ranks, strategy, precision and activation checkpointing") {
  check_restoring<Full>(1, 1, in_fp32);
  check_restoring<Full>(4, 4, in_fp32);
  check_restoring<Hybrid>(4, 2, in_fp32);
  check_restoring<HybridGradOp>(4, 2, in_fp32);
  check_restoring<OptimizerOnly>(2, 2, in_fp32);
  check_restoring<GradOp>(2, 2, in_fp32);
  check_restoring<Once>(2, 2, in_fp32);
  check_restoring<Replicated>(2, 1, in_fp32);
  check_restoring<PureFull>(2, 2, in_bf16);
  check_restoring<PureHybrid>(4, 2, in_bf16);
}

namespace {

constexpr std::int64_t evaluated[] = {0, 1, 0};  ///< first sequences of micro-batches

/// Losses of a step that is trained on, and of models that only go forward, on other ranks.
template <Recipe R> void check_inference(int ranks) {
  CAPTURE(ranks, monomorph::type_name<typename R::sharding>(), monomorph::type_name<typename R::precision>());
  const TemporaryFolder folder;
  save<R>(ranks, folder.path());
  const std::string checkpoint = train::find_checkpoint(folder.path());
  const train::RecipeProgram recipe = training_program<R>();
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 2, 4);
  train::restore_run(checkpoint, recipe, step, true);
  std::vector<double> expected;
  for (const std::int64_t first : evaluated)
    expected.push_back(step.evaluate(sequences.from(first, R::model.context_length)).loss);
  for (const int n : {1, 2, 4}) {
    std::atomic<int> equal = 0;
    with_ranks(n, [&](const World& world) {
      const auto others = world.communicator(R::sharding::optimizer_shards(n), R::precision::reduce_dtype);
      const auto model = recipe.make_inference_model(*others, 2, recipe.hparams.objective);
      together(*others, "restore", [&] { train::restore_model(checkpoint, recipe, *model); });
      std::vector<double> losses;
      for (const std::int64_t first : evaluated)
        losses.push_back(model->evaluate(sequences.from(first, R::model.context_length)).loss);
      equal += losses == expected ? 1 : 0;
    });
    CAPTURE(n);
    CHECK(equal == n);
  }
}

}  // namespace

TEST_CASE("a model that only goes forward has the losses of training in bits, on any ranks and with any strategy") {
  check_inference<Full>(2);
  check_inference<OptimizerOnly>(2);
  check_inference<GradOp>(1);
  check_inference<Hybrid>(4);
  check_inference<HybridGradOp>(1);
  check_inference<Once>(2);
  check_inference<Replicated>(1);
  check_inference<PureFull>(2);
  check_inference<OnHost>(2);
}

TEST_CASE("a rank that can't write its part fails the save on every rank, and nothing is left of it") {
  const TemporaryFolder folder;
  save<Full>(2, folder.path());
  std::mutex mutex;
  std::vector<std::string> messages;
  with_ranks(2, [&](const World& world) {
    const auto communicator = world.communicator(2, DType::fp32);
    const float value = 1;
    // A name that no safetensors file can hold.
    const std::string name = world.rank() == 1 ? "__metadata__" : "fine";
    const runtime::PartToSave part{{name, runtime::FileDType::f32, {2}, reinterpret_cast<const std::byte*>(&value)},
                                   {Region::whole({2}), world.rank(), 1}};
    runtime::CheckpointMetadata metadata;
    metadata.hyperparameters = "{}";
    metadata.step = 4;
    const std::string message = error_of([&] {
      (void)runtime::save_checkpoint(folder.path(), metadata, *communicator, {&part, 1}, {});
    });
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  });
  std::ranges::sort(messages);
  REQUIRE(messages.size() == 2);
  CHECK(contains(messages[0], "[RANK-08] rank 1 could not write its part of a checkpoint"));
  CHECK(contains(messages[1], "[SAFETENSORS-08]"));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) left.push_back(entry.path().filename());
  CHECK(left == std::vector<std::string>{"step_00000003"});
}

TEST_CASE("ranks save halves of columns in shards, and any rank loads what it holds of rows, columns or the whole") {
  const TemporaryFolder folder;
  const Dims shape{6, 10}, half{6, 5};
  const std::vector<Region> columns{{{0, 0}, half}, {{0, 5}, half}};
  with_ranks(4, [&](const World& world) {
    const auto communicator = world.communicator(4, DType::fp32);
    const RegionRun run{columns[world.rank() / 2], world.rank() % 2 * 15, 15};
    std::vector<float> values;
    for (std::int64_t i = run.first; i < run.end(); ++i)
      values.push_back(static_cast<float>(Region::whole(shape).element_at(run.region.place_of(i))));
    const std::vector<runtime::PartToSave> parts{
        {{"weight", runtime::FileDType::f32, {6, 10}, reinterpret_cast<const std::byte*>(values.data())}, run},
        {{"vector", runtime::FileDType::f32, {60}, reinterpret_cast<const std::byte*>(values.data())},
         {Region::whole({60}), world.rank() * 15, 15}}};
    runtime::CheckpointMetadata metadata;
    metadata.hyperparameters = "{}";
    (void)runtime::save_checkpoint(folder.path(), metadata, *communicator, parts, {});
  });
  runtime::CheckpointReader reader(folder / "step_00000000");
  reader.verify();
  CHECK(reader.metadata().has_regions);
  CHECK(contains(read_bytes(folder / "step_00000000/metadata.json"), R"("format_version": 3)"));
  for (const Region& region : std::vector<Region>{Region::whole(shape),
                                                  columns[0],
                                                  columns[1],
                                                  {{0, 0}, {2, 10}},
                                                  {{2, 0}, {4, 10}},
                                                  {{1, 3}, {4, 4}},
                                                  {{5, 9}, {1, 1}}})
    for (const std::int64_t first : {std::int64_t{0}, region.elements() / 3}) {
      std::vector<float> loaded(region.elements() - first), expected;
      reader.read("weight", region, first, std::as_writable_bytes(std::span(loaded)));
      for (std::int64_t i = first; i < region.elements(); ++i)
        expected.push_back(static_cast<float>(Region::whole(shape).element_at(region.place_of(i))));
      CHECK(loaded == expected);
    }
}

TEST_CASE("a reader reads the blocks of what it is asked for, and notices damage in them alone") {
  const TemporaryFolder folder;
  constexpr std::int64_t block = 4 << 20, n = 4 * block / 4;  // floats of four blocks
  std::vector<float> values(n);
  for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(i);
  with_ranks(2, [&](const World& world) {
    const auto communicator = world.communicator(2, DType::fp32);
    const std::int64_t first = world.rank() * n / 2;
    const runtime::PartToSave part{
        {"weights", runtime::FileDType::f32, {4, n / 4}, reinterpret_cast<const std::byte*>(&values[first])},
        {Region::whole({4, n / 4}), first, n / 2}};
    runtime::CheckpointMetadata metadata;
    metadata.hyperparameters = "{}";
    (void)runtime::save_checkpoint(folder.path(), metadata, *communicator, {&part, 1}, {});
  });
  const std::string path = folder / "step_00000000";
  std::vector<float> some(10);
  const auto read = [&](std::int64_t first) {
    runtime::CheckpointReader reader(path);
    reader.read("weights", first, std::as_writable_bytes(std::span(some)));
    return reader.bytes_read();
  };
  // The middle: the end of one rank's file and the beginning of the other's; and the blocks of both headers.
  const std::int64_t middle = n / 2;
  CHECK(read(middle - 5) <= 3 * block);
  CHECK(some.front() == static_cast<float>(middle - 5));
  CHECK(some.back() == static_cast<float>(middle + 4));
  CHECK(read(0) <= 2 * block);

  std::string bytes = read_bytes(path + "/rank_00001.safetensors");
  bytes[bytes.size() - 100] ^= 1;
  write_bytes(path + "/rank_00001.safetensors", bytes);
  CHECK(read(0) <= 2 * block);
  CHECK(contains(error_of([&] { read(n - 10); }), "[CHECKPOINT-05]"));
  CHECK(contains(error_of([&] { runtime::CheckpointReader(path).verify(); }), "rank_00001.safetensors"));
}

/// Four elements of a tensor of four times as many as there are ranks; its bytes come when `may_write`, if that is
/// given.
struct PartOfRank {
  PartOfRank(const World& world, std::shared_future<void> may_write = {}) {
    values.fill(static_cast<float>(world.rank()));
    part.tensor = {"weight", runtime::FileDType::f32, {4 * world.size()}};
    part.tensor.give = [this, may_write](const runtime::ByteSink& sink) {
      if (may_write.valid()) may_write.wait();
      sink(std::as_bytes(std::span(values)));
    };
    part.run = {Region::whole({4 * world.size()}), 4 * world.rank(), 4};
    metadata.hyperparameters = "{}";
    metadata.step = 7;
  }
  PartOfRank(const PartOfRank&) = delete;
  std::array<float, 4> values{};
  runtime::PartToSave part;
  runtime::CheckpointMetadata metadata;
};

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST_CASE(
    "ranks go on with their collectives while one of them writes slowly, and then complete what all have written") {
  const TemporaryFolder folder;
  std::promise<void> slow_rank_may_write;
  const std::shared_future<void> told = slow_rank_may_write.get_future();
  std::atomic<int> n_wrong = 0;  // checks of Catch2 are for one thread
  with_ranks(3, [&](const World& world) {
    const auto communicator = world.communicator(3, DType::fp32);
    const PartOfRank plain(world), held(world, world.rank() == 1 ? told : std::shared_future<void>());
    (void)runtime::save_checkpoint(folder / "at_once", plain.metadata, *communicator, {&plain.part, 1}, {});
    runtime::BackgroundSave save(folder / "behind", held.metadata, *communicator, {&held.part, 1}, {}, [] {});
    for (int step = 0; step < 5; ++step)
      if (!any_rank(*communicator, save.is_busy())) ++n_wrong;
    if (world.rank() != 1 && save.is_busy(std::chrono::seconds(60))) ++n_wrong;
    if (world.rank() == 0) slow_rank_may_write.set_value();
    if (!save.finish().warnings.empty()) ++n_wrong;
  });
  CHECK(n_wrong == 0);
  CHECK(names_in(folder / "behind") == std::vector<std::string>{"step_00000007"});
  const std::vector<std::string> files = names_in(folder / "at_once/step_00000007");
  CHECK(files.size() == 4);
  CHECK(names_in(folder / "behind/step_00000007") == files);
  for (const std::string& file : files)
    CHECK(read_bytes(folder / "behind/step_00000007/" + file) == read_bytes(folder / "at_once/step_00000007/" + file));
}

TEST_CASE("a rank that can't write its part fails a save behind the steps on every rank, and nothing is left of it") {
  const TemporaryFolder folder;
  std::mutex mutex;
  std::vector<std::string> messages;
  with_ranks(2, [&](const World& world) {
    const auto communicator = world.communicator(2, DType::fp32);
    PartOfRank of_rank(world);
    if (world.rank() == 1) of_rank.part.tensor.name = "__metadata__";  // which no safetensors file can hold
    runtime::BackgroundSave save(folder.path(), of_rank.metadata, *communicator, {&of_rank.part, 1}, {}, [] {});
    const std::string message = error_of([&] { save.finish(); });
    const std::lock_guard lock(mutex);
    messages.push_back(message);
  });
  std::ranges::sort(messages);
  REQUIRE(messages.size() == 2);
  CHECK(contains(messages[0], "[RANK-08] rank 1 could not write its part of a checkpoint"));
  CHECK(contains(messages[1], "[SAFETENSORS-08]"));
}

}  // namespace monomorph::testing
