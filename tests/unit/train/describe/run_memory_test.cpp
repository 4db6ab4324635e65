#include "train/describe/run_memory.hpp"

#include "train/describe/async_save_choice.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/models/gpt2.hpp>
#include <monomorph/runtime/memory/workspace.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// 100 MiB of state and 10 MiB for every sequence; a sample has 1,024 tokens.
RecipeProgram recipe() {
  RecipeProgram program;
  program.model = &models::gpt2_124m;
  program.memory = [](int, std::int64_t micro_batch, int) {
    return plan::Memory{.master = 100 * mebibyte,
                        .activations = micro_batch * 10 * mebibyte,
                        .checkpoint_staging = 100 * mebibyte};
  };
  program.planned.strategy = [](int) { return plan::Strategy{}; };
  program.planned.memory = [](const plan::Strategy&, int, std::int64_t micro_batch, int) {
    return recipe().memory(1, micro_batch, 0);
  };
  return program;
}

Hparams batch(std::int64_t global_batch, std::int64_t micro_batch) {
  Hparams hparams;
  hparams.batch.global_batch.value = global_batch;
  hparams.batch.micro_batch.value = micro_batch;
  return hparams;
}

/// What kernels keep depends on the number of threads.
const std::int64_t of_kernels = kernel_workspace_bytes();
std::string with_kernels(std::int64_t mebibytes) { return format_bytes(mebibytes * mebibyte + of_kernels); }

/// 900 MiB for what so many ranks need beside their kernels, and 300 MiB now.
MachineMemory machine(int ranks = 1) {
  return {.largest = 900 * mebibyte + ranks * of_kernels, .available = 300 * mebibyte + ranks * of_kernels};
}

std::string refusal(std::int64_t global_batch, std::int64_t micro_batch, const MachineMemory& of = machine()) {
  return error_of([&] { check_memory(recipe(), batch(global_batch, micro_batch), 1, 1, of); });
}

}  // namespace

TEST_CASE("a run says first what is planned of the memory in which its device computes") {
  plan::Memory plan{.master = 2048 * mebibyte, .device_workspace = 512 * mebibyte, .host_staging = 64 * mebibyte};
  CHECK(planned_text(plan) == "2.56 GiB planned");
  plan.arena_on_host = false;
  CHECK(planned_text(plan) == "2.50 GiB planned of the device's memory and 64.0 MiB of the host's");
}

TEST_CASE("what a run will fill: the plan, what kernels keep, and two batches of inputs and targets") {
  const RunMemory memory = run_memory(recipe(), batch(64, 64), 1);
  CHECK(memory.planned == 740 * mebibyte);
  CHECK(memory.kernels == of_kernels);
  CHECK(memory.batches == mebibyte);
  CHECK(memory.total() == 741 * mebibyte + of_kernels);
  RecipeProgram documents = recipe();
  documents.wants_document_starts = true;
  CHECK(run_memory(documents, batch(128, 128), 1).batches == 3 * mebibyte);
}

TEST_CASE("a run that fits has no warning, one that other programs leave no room for has") {
  CHECK_FALSE(check_memory(recipe(), batch(64, 16), 1, 1, machine()));
  const auto warning = check_memory(recipe(), batch(64, 64), 1, 1, machine());
  REQUIRE(warning);
  CHECK(contains(*warning, "[RUN-17] the run needs " + with_kernels(741) + " of memory"));
  CHECK(contains(*warning, with_kernels(300) + " are available"));
  CHECK_FALSE(check_memory(recipe(), batch(1'000'000'000, 1'000'000), 1, 1, MachineMemory{}));
}

TEST_CASE("a run that cannot fit is refused with the one thing to change") {
  CHECK(contains(refusal(64, 128), "[RUN-16] the run needs " + with_kernels(1382) + " of memory, 1.35 GiB planned, "));
  CHECK(contains(refusal(64, 128), "this machine gives " + with_kernels(900) +
                                       " at most; the largest parts of the plan are activations with 1.25 GiB and "
                                       "parameters of the optimizer with 100 MiB; "));
  CHECK(contains(refusal(128, 128), "; change batch.micro_batch to 64, which fits"));
  CHECK(contains(refusal(8, 8, {.largest = 50 * mebibyte}), "; take a smaller recipe, more ranks or a larger machine"));
}

TEST_CASE("ranks on one machine share its memory, and sum up gradients in a tree where that is asked for") {
  CHECK_FALSE(check_memory(recipe(), batch(64, 4), 2, 2, machine(2)));
  const auto warning = check_memory(recipe(), batch(64, 8), 2, 2, machine(2));
  REQUIRE(warning);
  CHECK(contains(*warning, "[RUN-17] the run needs 2 times " + with_kernels(180) + " of memory"));
  RecipeProgram of_tree = recipe();
  of_tree.memory = [](int ranks, std::int64_t, int levels) { return plan::Memory{.gradient_tree = ranks * levels}; };
  Hparams hparams = batch(64, 4);
  hparams.batch.reduction.value = ReductionOrder::fixed_tree;
  CHECK(run_memory(of_tree, hparams, 2).planned == 2 * 3);  // 8 micro-batches on each of 2 ranks
}

TEST_CASE("a copy of the state for checkpoints behind the steps counts where it is on") {
  Hparams hparams = batch(64, 16);
  CHECK(run_memory(recipe(), hparams, 1).staging == 0);
  hparams.checkpoint.async_save.value = AsyncSave::on;
  const RunMemory memory = run_memory(recipe(), hparams, 1);
  CHECK(memory.staging == 100 * mebibyte);
  CHECK(memory.total() == memory.planned + memory.kernels + memory.batches + 100 * mebibyte);
  CHECK(contains(*check_memory(recipe(), hparams, 1, 1, {.largest = MachineMemory::unknown, .available = mebibyte}),
                 ", 100 MiB for a copy of the state (checkpoint.async_save = on)"));
}

TEST_CASE("checkpoint.async_save=auto is on where the copy fits the memory that is free and the recipe's budget") {
  const auto chosen = [](const RecipeProgram& recipe, AsyncSave asked, int ranks, std::int64_t free) {
    Hparams hparams = batch(64, 16);
    hparams.checkpoint.async_save.value = asked;
    const auto reason = choose_async_save(recipe, hparams, {ranks, ranks}, free);
    CHECK(reason.has_value() ==
          (asked == AsyncSave::automatic && hparams.checkpoint.async_save.value == AsyncSave::off));
    return std::pair(hparams.checkpoint.async_save.value, reason.value_or(""));
  };
  // 260 MiB of the plan, 100 MiB for the copy, and batches.
  const std::int64_t enough = (361 * mebibyte + of_kernels) * 10 / 9;
  CHECK(chosen(recipe(), AsyncSave::automatic, 1, enough).first == AsyncSave::on);
  CHECK(chosen(recipe(), AsyncSave::automatic, 2, enough).first == AsyncSave::off);
  CHECK(chosen(recipe(), AsyncSave::automatic, 2, 2 * enough).first == AsyncSave::on);
  CHECK(chosen(recipe(), AsyncSave::automatic, 1, MachineMemory::unknown).first == AsyncSave::on);
  const auto [less, why] = chosen(recipe(), AsyncSave::automatic, 1, enough - 10 * mebibyte);
  CHECK(less == AsyncSave::off);
  CHECK(contains(why, "with 100 MiB for a copy of the state, the run would not fit 90 % of the "));
  CHECK(chosen(recipe(), AsyncSave::on, 1, 1).first == AsyncSave::on);  // RUN-16 judges it
  CHECK(chosen(recipe(), AsyncSave::off, 1, MachineMemory::unknown).first == AsyncSave::off);

  static constexpr Budget fits{.ranks = 1, .bytes_per_rank = 360 * mebibyte, .micro_batch = 16},
      exceeds{.ranks = 1, .bytes_per_rank = 360 * mebibyte - 1, .micro_batch = 16};
  RecipeProgram budgeted = recipe();
  budgeted.budget = &fits;
  CHECK(chosen(budgeted, AsyncSave::automatic, 1, enough).first == AsyncSave::on);
  CHECK(chosen(budgeted, AsyncSave::on, 1, enough).first == AsyncSave::on);
  budgeted.budget = &exceeds;
  CHECK(
      contains(chosen(budgeted, AsyncSave::automatic, 1, enough).second,
               "beside the 260 MiB that are planned, 100 MiB for a copy of the state exceed the recipe's budget of "));
  CHECK(contains(error_of([&] { chosen(budgeted, AsyncSave::on, 1, enough); }),
                 "[CHECKPOINT-20] checkpoint.async_save = on must fit the memory: beside the 260 MiB"));
  budgeted.memory = [](int, std::int64_t, int) {
    return plan::Memory{.master = 500 * mebibyte, .checkpoint_staging = 100 * mebibyte, .arena_on_host = false};
  };
  CHECK(chosen(budgeted, AsyncSave::on, 1, enough).first == AsyncSave::on);  // its budget is of the device's memory
}
