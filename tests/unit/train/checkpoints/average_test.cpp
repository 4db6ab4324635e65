#include "saved_tensors.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/train/checkpoints/average.hpp>

#include <nlohmann/json.hpp>

#include <array>
#include <bit>
#include <filesystem>
#include <limits>

using namespace monomorph;
using namespace monomorph::testing;
using namespace monomorph::train;

namespace {

/// Run folders with a checkpoint each, whose weight "w" has these values.
struct Runs {
  TemporaryFolder folder;
  std::vector<std::string> checkpoints;

  explicit Runs(const std::vector<std::vector<float>>& weights) {
    for (const std::vector<float>& values : weights)
      add({{"w", fp32_tensor(values)}, {"moment1.w", fp32_tensor(values)}});
  }
  Runs() = default;
  void add(const SavedTensors& tensors, runtime::CheckpointMetadata metadata = metadata_of_step(0)) {
    metadata.step += std::ssize(checkpoints) + 1;
    checkpoints.push_back(
        save_tensors(folder / ("run" + std::to_string(checkpoints.size()) + "/checkpoints"), tensors, metadata));
  }
  AveragedCheckpoints average(const std::vector<double>& shares = {}, const std::string& name = "average") const {
    return average_checkpoints(checkpoints, shares, folder / name);
  }
};

SavedTensor bf16_tensor(float value) {
  return saved_tensor(runtime::FileDType::bf16,
                      std::vector{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16)});
}

}  // namespace

TEST_CASE("the mean of weights is that of fp64, rounded once") {
  const float third = 1.0F / 3;
  const Runs runs({{1, third, 16777216}, {2, third, 1}, {6, third, 1}});
  runtime::CheckpointReader equal(runs.average().path);
  CHECK(fp32_values(equal, "w") == std::vector<float>{3, third, static_cast<float>(16777218.0 / 3)});
  runtime::CheckpointReader weighted(runs.average({2, 1, 1}, "weighted").path);
  CHECK(fp32_values(weighted, "w") == std::vector<float>{2.5F, third, 8388608.5F});
  runtime::CheckpointReader same(
      average_checkpoints({runs.checkpoints[0], runs.checkpoints[0]}, {0.7, 0.1}, runs.folder / "same").path);
  CHECK(fp32_values(same, "w") == std::vector<float>{1, third, 16777216});
}

TEST_CASE("a mean of bf16 and fp16 is rounded once, not to fp32 first, where a tie would appear") {
  struct Case {
    float left, right, nudge;  // the mean of the first two is a tie, which the third moves by less than fp32 can tell
    std::uint16_t bits;
  };
  const auto mean_of = [](const Case& of, auto tensor) {
    Runs runs;
    for (const float value : {of.left, of.right, of.nudge}) runs.add({{"w", tensor(value)}});
    runtime::CheckpointReader mean(runs.average({1, 1, 0x1p-30}).path);
    return std::bit_cast<std::uint16_t>(std::array{read_tensor(mean, "w").bytes[0], read_tensor(mean, "w").bytes[1]});
  };
  for (const Case& of : {Case{1, 1 + 0x1p-7F, 2, 0x3F81}, Case{1, 1 + 0x1p-7F, 0.5F, 0x3F80},
                         Case{1 + 0x1p-7F, 1 + 0x1p-6F, 1, 0x3F81}, Case{1 + 0x1p-7F, 1 + 0x1p-6F, 2, 0x3F82}})
    CHECK(mean_of(of, bf16_tensor) == of.bits);
  const auto fp16_tensor = [](float value) {  // of 1 and its neighbours, and 2 and 0.5
    const auto bits = static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(value) >> 13) - (112 << 10));
    return saved_tensor(runtime::FileDType::f16, std::vector{bits});
  };
  CHECK(mean_of({1, 1 + 0x1p-10F, 2, 0}, fp16_tensor) == 0x3C01);
  CHECK(mean_of({1, 1 + 0x1p-10F, 0.5F, 0}, fp16_tensor) == 0x3C00);
}

TEST_CASE("an average is a checkpoint of weights alone in a run folder of its own") {
  Runs runs({{1}, {3}});
  write_bytes(runs.folder / "run1/tokenizer.json", "a tokeniser");
  const std::string ids = "{\n  \"eos_token_id\": 2\n}\n";
  write_bytes(runs.folder / "run1/special_token_ids.json", ids);
  const AveragedCheckpoints average = runs.average();
  CHECK(average.path == (runs.folder / "average/checkpoints/step_00000002"));
  REQUIRE(average.notes.size() == 1);
  CHECK(contains(average.notes.front(), "optimiser is left out"));
  runtime::CheckpointReader reader(average.path);
  CHECK(reader.names() == std::vector<std::string>{"w"});
  CHECK(reader.metadata().step == 2);
  CHECK(reader.metadata().counters.contains(runtime::weights_alone_counter));
  CHECK(read_bytes(runs.folder / "average/tokenizer.json") == "a tokeniser");
  CHECK(read_bytes(runs.folder / "average/special_token_ids.json") == ids);
}

TEST_CASE("the mean is of the moving averages of the weights, where the optimiser kept them") {
  Runs runs;
  runs.add({{"w", fp32_tensor({1})}, {"average.w", fp32_tensor({10})}, {"fixed", fp32_tensor({5})}});
  runs.add({{"w", fp32_tensor({3})}, {"average.w", fp32_tensor({30})}, {"fixed", fp32_tensor({7})}});
  const AveragedCheckpoints average = runs.average();
  runtime::CheckpointReader reader(average.path);
  CHECK(reader.names() == std::vector<std::string>{"fixed", "w"});
  CHECK(fp32_values(reader, "w") == std::vector<float>{20});
  CHECK(fp32_values(reader, "fixed") == std::vector<float>{6});
  REQUIRE(average.notes.size() == 2);
  CHECK(contains(average.notes.back(), "moving averages of the weights"));
  // A mean has its averages by the plain names: it may be averaged again, with checkpoints that have both.
  runs.checkpoints.push_back(average.path);
  runtime::CheckpointReader again(runs.average({1, 1, 2}, "again").path);
  CHECK(fp32_values(again, "w") == std::vector<float>{20});
  Runs differing;
  differing.add({{"w", fp32_tensor({1})}, {"average.w", fp32_tensor({10})}});
  differing.add({{"w", fp32_tensor({1})}, {"average.w", saved_tensor(runtime::FileDType::f64, std::vector{10.0})}});
  CHECK(contains(error_of([&] { differing.average(); }), "\"w\" has another shape or dtype"));
}

TEST_CASE("what is not finite in a mean is said, and an evaluation is not the mean's") {
  Runs runs;
  runtime::CheckpointMetadata metadata = metadata_of_step(0);
  metadata.counters = {{runtime::evaluation_loss_counter, 2.5},
                       {"lowest_evaluation_loss", 2.0},
                       {"highest_evaluation_accuracy.wiki", 0.5},
                       {"updates", std::int64_t{1}}};
  runs.add({{"w", fp32_tensor({1, 2})}}, metadata);
  runs.add({{"w", fp32_tensor({std::numeric_limits<float>::infinity(), 2})}}, metadata);
  const AveragedCheckpoints average = runs.average();
  REQUIRE(average.notes.size() == 1);
  CHECK(contains(average.notes.front(), "1 elements of the mean are not finite"));
  const auto counters = runtime::read_checkpoint_metadata(average.path).counters;
  CHECK(counters.size() == 2);
  CHECK(counters.contains("updates"));
}

TEST_CASE("a mean names the weights that its runs began with only where they are the same") {
  using nlohmann::json;
  struct Case {
    json first, second, of_mean;
  };
  const json base{{"weights", {{"from", "base"}, {"vocabulary", "must_match"}}}, {"run", {{"seed", 7}}}};
  json other = base, empty = base;
  other["weights"]["from"] = "other";
  empty["weights"]["from"] = "";
  for (const bool imported : {false, true})
    for (const Case& of : {Case{base, base, base}, Case{other, base, empty}, Case{base, empty, empty}}) {
      CAPTURE(imported, of.first.dump(), of.second.dump());
      Runs runs;
      for (const json& told : {of.first, of.second}) {
        runtime::CheckpointMetadata metadata = metadata_of_step(0);
        metadata.hyperparameters = told.dump();
        if (imported) {
          metadata.step = -std::ssize(runs.checkpoints) - 1;  // as add() counts it up to 0
          metadata.counters[runtime::weights_alone_counter] = std::int64_t{1};
        }
        runs.add({{"w", fp32_tensor({1})}}, metadata);
      }
      const auto mean = runtime::read_checkpoint_metadata(runs.average().path);
      CHECK(mean.step == (imported ? 0 : 2));
      CHECK(json::parse(mean.hyperparameters) == of.of_mean);
    }
}

TEST_CASE("what is kept in NF4 has no mean: it stays as it is in all checkpoints, or is refused") {
  const auto with_codes = [](std::uint8_t code, float weight) {
    const auto bytes = [](std::uint8_t byte) {
      return saved_tensor(runtime::FileDType::u8, std::vector<std::uint8_t>{byte, 7});
    };
    return SavedTensors{{"m.codes", bytes(code)},
                        {"m.absmax", bytes(3)},
                        {"m.nested_absmax", fp32_tensor({0.1F})},
                        {"m.offset", fp32_tensor({0.3F})},
                        {"m.lora_a", fp32_tensor({weight})}};
  };
  Runs runs;
  for (const float weight : {1.0F, 4.0F}) runs.add(with_codes(200, weight));
  runtime::CheckpointReader mean(runs.average().path);
  const SavedTensors expected = with_codes(200, 2.5F);
  for (const auto& [name, tensor] : expected) {
    CAPTURE(name);
    CHECK(read_tensor(mean, name).bytes == tensor.bytes);
  }
  runs.add(with_codes(201, 1));
  CHECK(contains(error_of([&] { runs.average({}, "other"); }), "\"m.codes\" is of a matrix in NF4"));
}

TEST_CASE("checkpoints without an average are refused by name, and nothing is left behind") {
  const auto refused = [](const SavedTensors& other,
                          const runtime::CheckpointMetadata& metadata = metadata_of_step(0)) {
    Runs runs({{1, 2}});
    runs.add(other, metadata);
    const std::string message = error_of([&] { runs.average(); });
    CHECK_FALSE(std::filesystem::exists(runs.folder / "average"));
    CHECK(contains(message, "[CHECKPOINT-32]"));
    return message;
  };
  CHECK(contains(refused({{"v", fp32_tensor({1, 2})}}), "names"));
  CHECK(contains(refused({{"w", fp32_tensor({1, 2, 3})}}), "\"w\" has another shape"));
  CHECK(contains(refused({{"w", saved_tensor(runtime::FileDType::f64, std::vector{1.0, 2.0})}}), "\"w\" has another"));
  runtime::CheckpointMetadata metadata = metadata_of_step(0);
  metadata.state_fingerprint = "0000000000000000";
  metadata.recipe_facts = {{"optimizer", "Sgd"}};
  CHECK(contains(refused({{"w", fp32_tensor({1, 2})}}, metadata), "optimizer is AdamW and Sgd"));
  Runs integers;
  integers.add({{"w", saved_tensor(runtime::FileDType::i32, std::vector{1})}});
  integers.add({{"w", saved_tensor(runtime::FileDType::i32, std::vector{1})}});
  CHECK(contains(error_of([&] { integers.average(); }), "not of floating-point"));
}

TEST_CASE("weights of a mean are positive, one for each checkpoint, and its output is a new folder") {
  const Runs runs({{1}, {3}});
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::vector<double>& shares : {std::vector{1.0}, {1.0, 0.0}, {1.0, -1.0}, {1.0, nan}, {1.0, 2.0, 3.0}})
    CHECK(contains(error_of([&] { runs.average(shares); }), "[CHECKPOINT-33]"));
  CHECK(contains(error_of([&] { runs.average({}, "run0"); }), "[CHECKPOINT-30]"));
  CHECK(contains(error_of([&] { runs.average({}, "run0/checkpoints/step_00000001/mean"); }), "[CHECKPOINT-31]"));
  CHECK(contains(error_of([&] { runs.average({}, "no/such"); }), "[FILE-01]"));
  const std::string damaged = runs.checkpoints.back() + "/rank_00000.safetensors";
  std::string bytes = read_bytes(damaged);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write_bytes(damaged, bytes);
  CHECK(contains(error_of([&] { runs.average(); }), "[CHECKPOINT-05]"));
  CHECK_FALSE(std::filesystem::exists(runs.folder / "average"));
}
