#include "train/describe/micro_batch_choice.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/models/gpt2.hpp>
#include <monomorph/runtime/memory/workspace.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace micro_batch_choices {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20, plenty = MachineMemory::unknown;

/// 100 MiB of state and 10 MiB for every sequence.
RecipeProgram recipe(bool on_device = false) {
  RecipeProgram program;
  program.model = &models::gpt2_124m;
  const auto of_cpu = [](int, std::int64_t micro_batch, int) {
    return plan::Memory{.master = 100 * mebibyte, .activations = micro_batch * 10 * mebibyte};
  };
  const auto of_device = [](int, std::int64_t micro_batch, int) {
    return plan::Memory{.master = 100 * mebibyte,
                        .activations = micro_batch * 10 * mebibyte,
                        .host_activations = micro_batch * 5 * mebibyte,
                        .device_context = 50 * mebibyte,
                        .arena_on_host = false};
  };
  if (on_device)
    program.memory = of_device;
  else
    program.memory = of_cpu;
  return program;
}

Hparams sequences(std::int64_t global_batch, ReductionOrder order = ReductionOrder::any_order) {
  Hparams hparams;
  hparams.batch.global_batch.value = global_batch;
  hparams.batch.reduction.value = order;
  return hparams;
}

/// So much main memory that a run which fills `mebibytes`, beside what kernels and batches take, just fits.
FreeMemory main_memory_for(std::int64_t mebibytes, int local_ranks = 1) {
  const auto filled = static_cast<double>(local_ranks * ((mebibytes + 1) * mebibyte + kernel_workspace_bytes()));
  return {.main = static_cast<std::int64_t>(filled / usable_main_memory)};
}

std::int64_t chosen(std::int64_t global_batch, const FreeMemory& memory, LaunchedRanks ranks = {}) {
  return choose_micro_batch(recipe(memory.device.has_value()), sequences(global_batch), ranks, memory).micro_batch;
}

}  // namespace

TEST_CASE("on processors auto is the most that divide and fit, up to 8") {
  for (const auto& [global_batch, ranks, expected] :
       {std::array{8, 1, 8}, {64, 1, 8}, {12, 1, 6}, {7, 1, 7}, {11, 1, 1}, {8, 2, 4}, {18, 3, 6}}) {
    CAPTURE(global_batch, ranks);
    CHECK(chosen(global_batch, {plenty, {}}, {ranks, ranks}) == expected);
  }
  CHECK(chosen(64, main_memory_for(180)) == 8);
  CHECK(chosen(64, main_memory_for(179)) == 4);
  CHECK(chosen(12, main_memory_for(159)) == 4);
  CHECK(chosen(64, main_memory_for(120)) == 2);
  CHECK(chosen(64, main_memory_for(1)) == 1);  // which RUN-16 refuses, or RUN-17 warns of
}

TEST_CASE("ranks of one machine share its memory, those of others do not") {
  CHECK(chosen(64, main_memory_for(140, 2), {2, 2}) == 4);
  CHECK(chosen(64, main_memory_for(140, 1), {2, 2}) == 1);
  CHECK(chosen(64, main_memory_for(140, 1), {2, 1}) == 4);
}

TEST_CASE("on a device with a memory of its own auto is the most that divide and fit it") {
  const auto on_device = [](std::int64_t global_batch, std::int64_t mebibytes, std::int64_t main = plenty) {
    return chosen(global_batch, {main, mebibytes * mebibyte});
  };
  CHECK(on_device(512, 5270) == 512);
  CHECK(on_device(512, 5269) == 256);
  CHECK(on_device(96, 150 + 479) == 32);  // 48 would need 1 MiB more
  CHECK(on_device(96, 150 + 480) == 48);
  CHECK(on_device(97, 1000) == 1);
  CHECK(on_device(64, 10) == 1);
  CHECK(on_device(64, 5000, main_memory_for(80).main) == 16);  // what waits on the host
  CHECK(chosen(512, {plenty, 5270 * mebibyte}, {2, 2}) == 256);
}

TEST_CASE("a device that is not there leaves auto as on processors") {
  RecipeProgram program = recipe(true);
  program.device_use = []() -> DeviceUse { throw UsageError("GPU-03", "CUDA has none here"); };
  CHECK(contains(error_of([&] { free_memory(program); }), "[GPU-03]"));
  const FreeMemory memory = free_memory_if_known(program);
  CHECK_FALSE(memory.device);
  const MicroBatchChoice choice = choose_micro_batch(program, sequences(512), {}, {plenty, memory.device});
  CHECK(choice.micro_batch == 8);
  CHECK(contains(text_of(choice), "as no device here says what would fit it"));
  program.device_use = []() -> DeviceUse { throw Error("GPU-02", "the GPU failed"); };
  CHECK(contains(error_of([&] { free_memory_if_known(program); }), "[GPU-02]"));
  program.device_use = [] { return DeviceUse{.free_memory_bytes = 7}; };
  CHECK(free_memory(program).device == 7);
}

TEST_CASE("a fixed tree has 8 in each micro-batch, whatever the memory") {
  const auto in_tree = [](std::optional<std::int64_t> of_checkpoint, int ranks = 1) {
    return choose_micro_batch(recipe(true), sequences(64, ReductionOrder::fixed_tree), {ranks, ranks},
                              {plenty, mebibyte}, of_checkpoint);
  };
  CHECK(in_tree({}).micro_batch == 8);
  CHECK(in_tree({}, 4).micro_batch == 8);
  CHECK(in_tree(4, 4).micro_batch == 4);
  CHECK(in_tree(32, 4).micro_batch == 8);  // as before there was a choice
  CHECK_FALSE(in_tree({}).may_shrink);
}

TEST_CASE("a resumed run has the micro-batch of its checkpoint, or as many fewer as its ranks can share") {
  const auto resumed = [](std::int64_t of_checkpoint, int ranks, const FreeMemory& memory = {plenty, mebibyte}) {
    return choose_micro_batch(recipe(memory.device.has_value()), sequences(64), {ranks, ranks}, memory, of_checkpoint);
  };
  CHECK(resumed(32, 1).micro_batch == 32);
  CHECK(resumed(32, 1, {plenty, {}}).micro_batch == 32);  // on processors, too
  CHECK(resumed(1, 1).micro_batch == 1);
  CHECK(resumed(32, 4).micro_batch == 16);
  CHECK(resumed(5, 1).micro_batch == 4);
  CHECK_FALSE(resumed(32, 1).may_shrink);
  CHECK(text_of(resumed(32, 1)) ==
        "batch.micro_batch = 32 (auto: as in the checkpoint's run, whose bits depend on it)");
  CHECK(contains(text_of(resumed(32, 4)), "as many of the 32 in the checkpoint's run as divide a rank's 16 sequences"));
}

TEST_CASE("the line of a choice says what it was made by") {
  const auto line = [](const FreeMemory& memory) {
    return text_of(choose_micro_batch(recipe(memory.device.has_value()), sequences(64), {2, 1}, memory));
  };
  CHECK(line({10'000 * mebibyte, {}}) ==
        "batch.micro_batch = 8 (auto: the most that divide a rank's 32 sequences, are 8 "
        "or fewer and fit 90 % of the 9.77 GiB of memory that are free)");
  CHECK(line({plenty, 400 * mebibyte}) ==
        "batch.micro_batch = 16 (auto: the most that divide a rank's 32 sequences and fit "
        "the 400 MiB of the device's memory that are free)");
}

}  // namespace micro_batch_choices
