#include "train/commands/forward_memory.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <optional>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace forward_memories {
namespace {

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// What is free on the device; negative: it has not the memory to say so.
std::int64_t free_mebibytes = 0;

/// A recipe whose model takes 100 MiB of its device, and 1 MiB for each sequence.
RecipeProgram recipe() {
  RecipeProgram program;
  program.memory = [](int, std::int64_t, int) { return plan::Memory{.arena_on_host = false}; };
  program.planned.strategy = [](int) { return plan::Strategy{}; };
  program.planned.memory = [](const plan::Strategy&, int, std::int64_t micro_batch, int) {
    return plan::Memory{.compute_params = 100 * mebibyte,
                        .activations = micro_batch * mebibyte,
                        .arena_on_host = false};
  };
  program.device_use = [] {
    if (free_mebibytes < 0) throw UsageError("GPU-05", "the GPU has no memory left, while counting its memory");
    return DeviceUse{.free_memory_bytes = free_mebibytes * mebibyte};
  };
  return program;
}

const UsageError refusal("GPU-05", "the GPU has no memory left"), of_host("GPU-06", "the host has none");

std::string advice(const UsageError& refused, const ForwardMemory& memory) {
  return with_memory_advice(refused, memory).what();
}

}  // namespace

TEST_CASE("a command to which memory is refused says its plan's parts, and the largest micro-batch that fits") {
  const RecipeProgram program = recipe();
  const ForwardMemory memory = micro_batch_memory(program, 1, 48);
  free_mebibytes = 131;
  CHECK(contains(advice(refusal, memory),
                 "[GPU-05] the GPU has no memory left; the largest parts of the plan are parameters of compute with "
                 "100 MiB and activations with 48.0 MiB; "));
  CHECK(contains(advice(refusal, memory), "; change --micro-batch to 31, which fits"));
  free_mebibytes = 101;
  CHECK(contains(advice(refusal, memory), "; change --micro-batch to 1, which fits"));
  for (const std::int64_t too_little : {100, -1}) {
    free_mebibytes = too_little;
    CHECK(contains(advice(refusal, memory), "; take a smaller model, or a GPU with more memory"));
  }
  CHECK(contains(advice(of_host, memory), "; lower --micro-batch, or take a machine with more memory"));
}

TEST_CASE("a command without a number to lower says what it needs all the same") {
  ForwardMemory memory = forward_memory(recipe(), 1, 2);
  memory.beside = "a cache of 64 tokens";
  CHECK(contains(advice(refusal, memory), ", beside a cache of 64 tokens; take a smaller model, or a GPU with more"));
  CHECK(contains(advice(of_host, memory), "; take a machine with more memory, or raise the limit"));
}

TEST_CASE("a number is lowered by whole units, and not below the least") {
  const auto change = [](std::int64_t given, std::int64_t fitting) {
    return fitting_change(
        {.name = "--cache-tokens", .given = given, .least = 32, .unit = 16, .fits = [=](std::int64_t tried) {
           CHECK(tried % 16 == 0);
           CHECK(tried < given);
           return tried <= fitting;
         }});
  };
  CHECK(change(4096, 1000) == "change --cache-tokens to 992, which fits");
  CHECK(change(4096, 5000) == "change --cache-tokens to 4080, which fits");
  CHECK(change(4090, 5000) == "change --cache-tokens to 4080, which fits");
  CHECK(change(48, 32) == "change --cache-tokens to 32, which fits");
  CHECK_FALSE(change(4096, 31));
  CHECK_FALSE(change(32, 4096));
  CHECK_FALSE(change(16, 4096));
}

TEST_CASE("memory that is refused before a command computes is its user's to change, and later a failure") {
  const ForwardMemory memory = forward_memory(recipe(), 1, 2);
  const auto refused = [&](bool computes, const UsageError& error) -> std::optional<ExitCode> {
    try {
      advised_on_memory(memory, [&](bool& begun) {
        begun = computes;
        throw error;
      });
    } catch (const Error& told) {
      CHECK(told.id() == error.id());
      CHECK(contains(told.what(), "the largest parts of the plan are ") == (told.id() == "GPU-05"));
      return told.code();
    }
    return std::nullopt;
  };
  CHECK(refused(false, refusal) == ExitCode::usage);
  CHECK(refused(true, refusal) == ExitCode::failure);
  CHECK(refused(true, UsageError("RUN-28", "a text does not fit")) == ExitCode::usage);
  CHECK(advised_on_memory(memory, [](bool&) { return 7; }) == 7);
}

}  // namespace forward_memories
