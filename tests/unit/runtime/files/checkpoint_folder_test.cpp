#include "support/catch.hpp"
#include "support/communicators.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/xxh64.hpp>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

namespace checkpoint_folder_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;
using namespace monomorph::testing;

CheckpointMetadata metadata_of(std::int64_t step) {
  CheckpointMetadata metadata;
  metadata.fingerprint = "0123456789abcdef";
  metadata.state_fingerprint = "fedcba9876543210";
  metadata.recipe_facts = {{"precision", "Fp32"}, {"model.n_layers", "2"}};
  metadata.recipe_description = "gpt2_tiny, fully sharded";
  metadata.hyperparameters = R"({"optimizer":{"lr":0.0003},"seed":17})";
  metadata.step = step;
  metadata.n_tokens = step * 2048;
  metadata.sample_counter = step * 8;
  return metadata;
}

SavedCheckpoint save(const std::string& folder, const CheckpointMetadata& metadata,
                     const Retention& retention = {.latest = 3}) {
  const std::vector<float> values(64, static_cast<float>(metadata.step));
  const TensorToWrite weights{"weights", FileDType::f32, {64}, reinterpret_cast<const std::byte*>(values.data())};
  const auto communicator = one_rank();
  return save_checkpoint(folder, metadata, *communicator, std::vector<PartToSave>{{weights, RegionRun::whole({64})}},
                         retention);
}

std::string save_step(const std::string& folder, std::int64_t step, int keep = 3) {
  return save(folder, metadata_of(step), {.latest = keep}).path;
}

float first_weight(CheckpointReader checkpoint) {
  float value = 0;
  checkpoint.read("weights", 0, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

std::string error_of_loading(const std::string& path) {
  return error_of([&] { CheckpointReader(path).verify(); });
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

/// Changes metadata.json and, as one who means harm would, its checksum too.
void rewrite_metadata(const std::string& path, const std::function<void(nlohmann::ordered_json&)>& change) {
  auto document = nlohmann::ordered_json::parse(read_bytes(path + "/metadata.json"));
  document.erase("metadata_checksum");
  change(document);
  const std::string text = document.dump();
  document["metadata_checksum"] = fmt::format("{:016x}", xxh64(std::as_bytes(std::span{text.data(), text.size()})));
  write_bytes(path + "/metadata.json", document.dump());
}

}  // namespace

TEST_CASE("everything that is saved comes back") {
  const TemporaryFolder folder;
  CheckpointMetadata metadata = metadata_of(100);
  metadata.recipe_description = "two lines,\n\"quotes\" and an ü";
  metadata.counters = {{"skipped_steps", std::int64_t{3}},
                       {"largest", std::numeric_limits<std::int64_t>::max()},
                       {"smallest", std::numeric_limits<std::int64_t>::min()},
                       {"third", 1.0 / 3.0},
                       {"whole", 2.0},
                       {"negative_zero", -0.0},
                       {"tiny", std::numeric_limits<double>::denorm_min()},
                       {"infinite", -std::numeric_limits<double>::infinity()},
                       {"best_loss", std::numeric_limits<double>::infinity()}};
  const SavedCheckpoint saved = save(folder / "run/checkpoints", metadata);
  CHECK(saved.path == (folder / "run/checkpoints/step_00000100"));
  CHECK(saved.warnings.empty());
  const CheckpointReader reader(saved.path);
  const CheckpointMetadata& loaded = reader.metadata();
  CHECK(loaded.fingerprint == metadata.fingerprint);
  CHECK(loaded.state_fingerprint == metadata.state_fingerprint);
  CHECK(loaded.recipe_facts == metadata.recipe_facts);
  CHECK(loaded.recipe_description == metadata.recipe_description);
  CHECK(loaded.hyperparameters == metadata.hyperparameters);
  CHECK(loaded.step == 100);
  CHECK(loaded.n_tokens == 204800);
  CHECK(loaded.sample_counter == 800);
  CHECK(loaded.n_ranks == 1);
  CHECK(loaded.counters == metadata.counters);
  CHECK(std::signbit(std::get<double>(loaded.counters.at("negative_zero"))));
  REQUIRE(loaded.files.size() == 1);
  CHECK(reader.names() == std::vector<std::string>{"weights"});
  CHECK(first_weight(CheckpointReader(saved.path)) == 100.0f);
}

TEST_CASE("metadata.json is readable by other programs") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 7);
  const auto document = nlohmann::json::parse(read_bytes(path + "/metadata.json"));
  CHECK(document.at("format_version") == 2);
  CHECK(document.at("hyperparameters").at("optimizer").at("lr") == 0.0003);
  const auto& file = document.at("files").at(0);
  const std::string bytes = read_bytes(path + "/rank_00000.safetensors");
  CHECK(file.at("name") == "rank_00000.safetensors");
  CHECK(file.at("bytes") == bytes.size());
  CHECK(file.at("block_bytes") == 4 << 20);
  CHECK(file.at("xxh64").at(0) == fmt::format("{:016x}", xxh64(std::as_bytes(std::span{bytes.data(), bytes.size()}))));
}

TEST_CASE("not a number is kept as such") {
  const TemporaryFolder folder;
  CheckpointMetadata metadata = metadata_of(1);
  metadata.counters["loss"] = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(
      std::get<double>(CheckpointReader(save(folder.path(), metadata).path).metadata().counters.at("loss"))));
}

TEST_CASE("the last ones are kept, the latest is found by its step") {
  const TemporaryFolder folder;
  CHECK_FALSE(latest_checkpoint(folder / "missing"));
  CHECK_FALSE(latest_checkpoint(folder.path()));
  for (const std::int64_t step : {9, 99, 999, 100'000'000}) save_step(folder.path(), step, 2);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000999", "step_100000000"});
  CHECK(latest_checkpoint(folder.path()) == (folder / "step_100000000"));
  save_step(folder.path(), 1, 1);  // an earlier step than what is there: the one just saved is never deleted
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000001"});
}

TEST_CASE("multiples of a step are kept for ever, beside the latest ones") {
  const TemporaryFolder folder;
  for (std::int64_t step = 1; step <= 9; ++step) save(folder.path(), metadata_of(step), {.latest = 2, .every = 4});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000004", "step_00000008", "step_00000009"});
  for (const std::int64_t step : {10, 11}) save(folder.path(), metadata_of(step), {.latest = 2, .every = 4});
  CHECK(names_in(folder.path()) ==
        std::vector<std::string>{"step_00000004", "step_00000008", "step_00000010", "step_00000011"});
}

TEST_CASE("the one with the best counter is kept, of equal ones the latest") {
  using Names = std::vector<std::string>;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const bool highest : {false, true}) {
    const TemporaryFolder folder;
    const double sign = highest ? -1 : 1;
    const Retention retention{.latest = 1, .best = BestCounter{.name = "loss", .highest = highest}};
    std::int64_t step = 0;
    const auto save_with = [&](std::variant<std::int64_t, double> loss) {
      CheckpointMetadata metadata = metadata_of(++step);
      metadata.counters["loss"] = loss;
      save(folder.path(), metadata, retention);
      return names_in(folder.path());
    };
    CHECK(save_with(sign * 3) == Names{"step_00000001"});
    CHECK(save_with(sign * 2) == Names{"step_00000002"});
    CHECK(save_with(sign * 2.5) == Names{"step_00000002", "step_00000003"});
    CHECK(save_with(nan) == Names{"step_00000002", "step_00000004"});
    CHECK(save_with(std::int64_t{1}) == Names{"step_00000002", "step_00000005"});  // no counter of a loss
    CHECK(save_with(sign * 2) == Names{"step_00000006"});
    save(folder.path(), metadata_of(7), retention);  // without one
    CHECK(names_in(folder.path()) == Names{"step_00000006", "step_00000007"});
    save(folder.path(), metadata_of(8), {.latest = 1});
    CHECK(names_in(folder.path()) == Names{"step_00000008"});
  }
}

TEST_CASE("the counters of a run tell by what it keeps its best") {
  CheckpointMetadata metadata = metadata_of(1);
  metadata.counters = {{"evaluation_loss", 2.0}, {"lowest_price", 1.0}, {"highest_", 1.0}};
  CHECK_FALSE(best_counter_of(metadata).has_value());
  for (const bool highest : {false, true}) {
    const BestCounter best{.name = "evaluation_accuracy.wiki", .highest = highest};
    CheckpointMetadata of_run = metadata;
    of_run.counters[best.of_run()] = 0.5;
    const auto found = best_counter_of(of_run);
    REQUIRE(found.has_value());
    CHECK((found->name == best.name && found->highest == highest));
    CHECK((is_of_evaluation(best.name) && is_of_evaluation(best.of_run())));
    CHECK(best.is_better(0.25, 0.5) == !highest);
    CHECK_FALSE(best.is_better(0.5, 0.5));
  }
  CHECK((!is_of_evaluation("lowest_price") && !is_of_evaluation("updates")));
}

TEST_CASE("a checkpoint of the same step is replaced") {
  const TemporaryFolder folder;
  CheckpointMetadata metadata = metadata_of(5);
  save(folder.path(), metadata);
  metadata.fingerprint = "another";
  CHECK(save(folder.path(), metadata).warnings.empty());
  CHECK(CheckpointReader(folder / "step_00000005").metadata().fingerprint == "another");
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("what earlier crashes left is removed, what others put there is not") {
  const TemporaryFolder folder;
  for (const char* const name : {".partial-step_00000002", ".partial-step_00000009", ".trash-step_00000001", "notes",
                                 "step_1", "step_x", "step_00000001x", "step_-0000001"}) {
    std::filesystem::create_directory(folder / name);
    write_bytes(folder / name + "/file", "half");
  }
  save_step(folder.path(), 2, 1);
  CHECK(names_in(folder.path()) ==
        std::vector<std::string>{"notes", "step_-0000001", "step_00000001x", "step_00000002", "step_1", "step_x"});
  CHECK(latest_checkpoint(folder.path()) == (folder / "step_00000002"));
}

TEST_CASE("a missing checkpoint is an error and the remedy is named") {
  const TemporaryFolder folder;
  CHECK(contains(error_of_loading(folder / "step_00000001"), "[CHECKPOINT-01]"));
  CHECK(contains(error_of_loading(folder / "step_00000001"), "step_00000001\""));
  save_step(folder.path(), 1);
  CHECK(contains(error_of_loading(folder.path()), "give one of the step_ folders"));
  CHECK(contains(error_of_loading(folder / "step_00000001/metadata.json"), "[CHECKPOINT-01]"));
}

TEST_CASE("a newer format is refused, never passed over") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1);
  const std::string path = save_step(folder.path(), 2);
  write_bytes(path + "/metadata.json", R"({"format_version": 4, "all_else": "is different"})");
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-02]"));
  CHECK(contains(error_of([&] { latest_checkpoint(folder.path()); }), "[CHECKPOINT-02]"));
}

TEST_CASE("a checkpoint of version 1, whose files have one checksum, loads and is checked") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 5), file = path + "/rank_00000.safetensors";
  rewrite_metadata(path, [](auto& document) {
    document["format_version"] = 1;
    for (auto& record : document["files"]) {
      record["xxh64"] = std::string(record["xxh64"].at(0));
      record.erase("block_bytes");
    }
  });
  CHECK(first_weight(CheckpointReader(path)) == 5.0f);
  std::string bytes = read_bytes(file);
  bytes.back() ^= 1;
  write_bytes(file, bytes);
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-05]"));
}

TEST_CASE("checksums that do not fit their file are damage") {
  const TemporaryFolder folder;
  const auto error_with = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    const std::string path = save_step(folder.path(), 5);
    rewrite_metadata(path, [&](auto& document) { change(document["files"][0]); });
    return error_of_loading(path);
  };
  const std::string sum = "0123456789abcdef";
  CHECK(contains(error_with([](auto& file) { file["xxh64"] = nlohmann::json::array(); }), "[CHECKPOINT-03]"));
  CHECK(contains(error_with([&](auto& file) { file["xxh64"] = {sum, sum}; }), "every block has a checksum"));
  CHECK(contains(error_with([](auto& file) { file["block_bytes"] = 0; }), "block_bytes of"));
  CHECK(contains(error_with([](auto& file) { file["block_bytes"] = 1; }), "every block has a checksum"));
  CHECK(contains(error_with([](auto& file) { file.erase("block_bytes"); }), "[CHECKPOINT-03]"));
}

TEST_CASE("every flipped byte of a rank's file is found and the file is named") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 3);
  const std::string file = path + "/rank_00000.safetensors";
  const std::string bytes = read_bytes(file);
  for (std::size_t position = 0; position < bytes.size(); ++position) {
    std::string changed = bytes;
    changed[position] = static_cast<char>(changed[position] ^ 0x10);
    write_bytes(file, changed);
    const std::string message = error_of_loading(path);
    REQUIRE(contains(message, "[CHECKPOINT-05]"));
    REQUIRE(contains(message, file));
  }
}

TEST_CASE("a file cut short, longer or missing is found, and an earlier checkpoint taken") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1);
  const std::string path = save_step(folder.path(), 2);
  const std::string file = path + "/rank_00000.safetensors";
  const std::string bytes = read_bytes(file);
  write_bytes(file, bytes.substr(0, bytes.size() - 1));
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-04]"));
  write_bytes(file, bytes + "x");
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-04]"));
  std::filesystem::remove(file);
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-04]"));
  CHECK(contains(error_of_loading(path), file));
  std::vector<std::string> skipped;
  CHECK(latest_checkpoint(folder.path(), &skipped) == (folder / "step_00000001"));
  REQUIRE(skipped.size() == 1);
  CHECK(contains(skipped[0], "step_00000002"));
}

TEST_CASE("the checkpoints of later steps are set aside, whole or not, and nothing of them is deleted") {
  const TemporaryFolder folder;
  CHECK_FALSE(set_aside_later(folder / "missing", 2));
  for (std::int64_t step = 1; step <= 4; ++step) save_step(folder.path(), step, 9);
  write_bytes(folder / "step_00000003/metadata.json", "{");
  write_bytes(folder / "notes.txt", "of the user");
  CHECK_FALSE(set_aside_later(folder.path(), 4));
  CHECK(set_aside_later(folder.path(), 2) == (folder / "abandoned_1"));
  CHECK(names_in(folder.path()) ==
        std::vector<std::string>{"abandoned_1", "notes.txt", "step_00000001", "step_00000002"});
  CHECK(names_in(folder / "abandoned_1") == std::vector<std::string>{"step_00000003", "step_00000004"});
  CHECK(latest_checkpoint(folder.path()) == (folder / "step_00000002"));
  CHECK(latest_checkpoint(folder / "abandoned_1") == (folder / "abandoned_1/step_00000004"));

  save_step(folder.path(), 3, 1);  // keeps one: those set aside are neither counted nor deleted
  CHECK(set_aside_later(folder.path(), 0) == (folder / "abandoned_2"));
  CHECK(names_in(folder / "abandoned_1").size() == 2);
  CHECK(names_in(folder / "abandoned_2") == std::vector<std::string>{"step_00000003"});
  CHECK_FALSE(has_checkpoints(folder.path()));
}

TEST_CASE("setting aside that was cut off counts as done, and is ended by the next") {
  const TemporaryFolder folder;
  for (const std::int64_t step : {46, 48, 50}) save_step(folder.path(), step, 9);
  // As a run leaves it that is killed between two renames.
  write_bytes(folder / ".branches-from-step_00000046", "");
  std::filesystem::create_directory(folder / "abandoned_1");
  std::filesystem::rename(folder / "step_00000050", folder / "abandoned_1/step_00000050");
  CHECK(latest_checkpoint(folder.path()) == (folder / "step_00000046"));
  CHECK(set_aside_later(folder.path(), 46) == (folder / "abandoned_2"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"abandoned_1", "abandoned_2", "step_00000046"});
  CHECK(names_in(folder / "abandoned_2") == std::vector<std::string>{"step_00000048"});

  write_bytes(folder / ".branches-from-step_00000046", "");  // killed after the last rename
  CHECK_FALSE(set_aside_later(folder.path(), 46));
  save_step(folder.path(), 47, 9);
  CHECK(latest_checkpoint(folder.path()) == (folder / "step_00000047"));
}

TEST_CASE("what is called before a save is completed may stop it, and nothing appears or is deleted") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1, 1);
  const auto communicator = one_rank();
  CHECK(contains(error_of([&] {
                   static_cast<void>(save_checkpoint(folder.path(), metadata_of(2), *communicator,
                                                     std::vector<PartToSave>{}, {.latest = 1},
                                                     [] { throw Error("TEST-01", "not ours"); }));
                 }),
                 "not ours"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000001"});
}

TEST_CASE("broken checkpoints do not count as kept") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1);
  write_bytes(save_step(folder.path(), 2) + "/metadata.json", "{");
  save_step(folder.path(), 3, 2);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000001", "step_00000002", "step_00000003"});
}

TEST_CASE("metadata.json cut short anywhere, or with any byte of a value changed, is refused") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 4);
  const std::string text = read_bytes(path + "/metadata.json");
  for (std::size_t size = 0; size + 1 < text.size(); ++size) {
    write_bytes(path + "/metadata.json", text.substr(0, size));
    REQUIRE(contains(error_of_loading(path), "[CHECKPOINT-03]"));
  }
  for (std::size_t position = 0; position < text.size(); ++position) {
    if (std::isspace(static_cast<unsigned char>(text[position])) != 0) continue;
    std::string changed = text;
    changed[position] = static_cast<char>(changed[position] ^ 0x01);
    write_bytes(path + "/metadata.json", changed);
    const std::string message = error_of_loading(path);
    REQUIRE((contains(message, "[CHECKPOINT-03]") || contains(message, "[CHECKPOINT-02]")));
  }
}

TEST_CASE("nothing may follow metadata.json's object behind a NUL byte") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 4), file = path + "/metadata.json", text = read_bytes(file);
  write_bytes(file, text + std::string("\0{}", 3));
  const std::string message = error_of_loading(path);
  CHECK(contains(message, "[CHECKPOINT-03]"));
  CHECK(contains(message, "NUL byte"));
}

TEST_CASE("metadata made to harm is refused") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 4);
  rewrite_metadata(path, [](auto&) {});
  REQUIRE(error_of_loading(path) == "(no error)");
  const auto refused = [&](const std::function<void(nlohmann::ordered_json&)>& change) {
    save_step(folder.path(), 4);
    rewrite_metadata(path, change);
    return contains(error_of_loading(path), "[CHECKPOINT-03]");
  };
  CHECK(refused([](auto& document) { document["files"][0]["name"] = "../../etc/passwd"; }));
  CHECK(refused([](auto& document) { document["files"] = nlohmann::json::array(); }));
  CHECK(refused([](auto& document) { document["files"][0]["xxh64"] = "0x"; }));
  CHECK(refused([](auto& document) { document["files"] = 5; }));
  CHECK(refused([](auto& document) { document["ranks"] = 2; }));
  CHECK(refused([](auto& document) { document["step"] = "4"; }));
  CHECK(refused([](auto& document) { document["counters"]["x"] = "more"; }));
  CHECK(refused([](auto& document) { document["format_version"] = 0; }));
  CHECK(refused([](auto& document) { document.erase("format_version"); }));
  CHECK(refused([](auto& document) { document.erase("recipe"); }));
  CHECK(refused([](auto& document) { document["recipe"]["state_fingerprint"] = 5; }));
  CHECK(refused([](auto& document) { document["recipe"]["facts"] = 5; }));
  CHECK(refused([](auto& document) { document["recipe"]["facts"]["precision"] = 5; }));
  write_bytes(path + "/metadata.json", std::string(1'000'000, '['));
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-03]"));
  write_bytes(path + "/metadata.json", std::string(100'000, '[') + std::string(100'000, ']'));
  CHECK(contains(error_of_loading(path), "[CHECKPOINT-03]"));
}

TEST_CASE("a number that a writer can't have written is refused, and its field is named") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 4);
  const auto error_with = [&](const std::string& pointer, const char* value) {
    save_step(folder.path(), 4);
    rewrite_metadata(path, [&](auto& document) {
      document[nlohmann::ordered_json::json_pointer(pointer)] = nlohmann::ordered_json::parse(value);
    });
    return error_of([&] { read_checkpoint_metadata(path); });
  };
  for (const char* const field : {"step", "tokens", "sample_counter", "ranks"})
    for (const char* const value :
         {"-1", "-9223372036854775808", "9223372036854775808", "18446744073709551615", "4.0", "1e300", "null", "[4]"}) {
      const std::string error = error_with(std::string("/") + field, value);
      CAPTURE(field, value, error);
      CHECK(error.starts_with("[CHECKPOINT-03] \"" + path + "/metadata.json\" is damaged (" + field + " must be"));
    }
  CHECK(contains(error_with("/ranks", "0"), "ranks must be a whole number from 1"));
  CHECK(contains(error_with("/ranks", "4294967297"), "ranks must be a whole number from 1"));
  CHECK(contains(error_with("/files/0/bytes", "-1"), "bytes of rank_00000.safetensors must be"));
  CHECK(contains(error_with("/files/0/bytes", "1e3"), "bytes of rank_00000.safetensors must be"));
  CHECK(contains(error_with("/files/0/block_bytes", "0"), "block_bytes of rank_00000.safetensors must be"));
  CHECK(contains(error_with("/files/0/block_bytes", "-1"), "block_bytes of rank_00000.safetensors must be"));
  CHECK(contains(error_with("/counters/updates", "9223372036854775808"), "counters.updates must be"));
  CHECK(contains(error_with("/counters/updates", "\"more\""), "counters.updates must be"));
  CHECK(error_with("/sample_counter", "9223372036854775807") == "(no error)");
  CHECK(error_with("/counters/updates", "-9223372036854775808") == "(no error)");
}

TEST_CASE("a checkpoint of a version that told less of its recipe can be read") {
  const TemporaryFolder folder;
  const std::string path = save_step(folder.path(), 4);
  rewrite_metadata(path, [](auto& document) {
    document["recipe"].erase("state_fingerprint");
    document["recipe"].erase("facts");
  });
  const CheckpointMetadata metadata = read_checkpoint_metadata(path);
  CHECK(metadata.fingerprint == "0123456789abcdef");
  CHECK(metadata.state_fingerprint.empty());
  CHECK(metadata.recipe_facts.empty());
}

TEST_CASE("what cannot be saved is refused, and nothing is left or lost") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1);
  const auto error_of_saving = [&](const std::function<void(CheckpointMetadata&)>& change, int keep = 1) {
    CheckpointMetadata metadata = metadata_of(2);
    change(metadata);
    return error_of([&] { save(folder.path(), metadata, {.latest = keep}).path; });
  };
  CHECK(contains(error_of_saving([](auto&) {}, 0), "[CHECKPOINT-06]"));
  CHECK(contains(error_of_saving([](auto& metadata) { metadata.hyperparameters = "{"; }), "[CHECKPOINT-07]"));
  CHECK(contains(error_of_saving([](auto& metadata) { metadata.fingerprint = "\xff"; }), "[CHECKPOINT-07]"));
  CHECK(contains(error_of_saving([](auto& metadata) { metadata.n_tokens = -1; }), "[CHECKPOINT-07]"));
  write_bytes(folder / "plain", "a file where a folder should be");
  CHECK(contains(error_of([&] { save_step(folder / "plain/checkpoints", 1); }), "[FILE-01]"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"plain", "step_00000001"});
  CHECK(first_weight(CheckpointReader(folder / "step_00000001")) == 1.0f);
}

namespace {

/// The other rank is lost in the n-th exchange.
class LosingCommunicator final : public IdleCommunicator {
 public:
  explicit LosingCommunicator(int n) : left_(n) {}

 private:
  void all_reduce_words(std::span<std::int64_t>) override {
    if (--left_ == 0) throw RankFailure(1, "RANK-11", "rank 1 has gone");
  }

  int left_;
};

}  // namespace

TEST_CASE("the folder of a save stays for the ranks that still write when one is lost, until the next save") {
  const TemporaryFolder folder;
  const auto n_partial = [&] {
    return std::ranges::count_if(names_in(folder.path()),
                                 [](const auto& name) { return name.starts_with(".partial-step_00000005-"); });
  };
  const auto lose_in_exchange = [&](int n) {
    LosingCommunicator communicator(n);
    CHECK_THROWS_AS(save_checkpoint(folder.path(), metadata_of(5), communicator, std::vector<PartToSave>{},
                                    {.latest = 3}),
                    RankFailure);
    CHECK_FALSE(latest_checkpoint(folder.path()));
  };
  lose_in_exchange(1);
  CHECK(n_partial() == 1);
  // What is exchanged: created, the token; and that the leftovers are gone, written, sizes, checksums.
  for (const int n : {1, 2}) {
    lose_in_exchange(n);
    CHECK(n_partial() == n + 1);
  }
  for (int n = 3; n <= 6; ++n) {
    lose_in_exchange(n);
    CHECK(n_partial() == 1);
  }
  save_step(folder.path(), 6);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step_00000006"});
}

TEST_CASE("metadata with more keys than any checkpoint has, or in a pipe, is refused at once") {
  const TemporaryFolder folder;
  const std::string path = folder / "step_00000001/metadata.json";
  std::filesystem::create_directory(folder / "step_00000001");
  std::string keys = "{";
  for (int i = 0; i < 1000; ++i) keys += fmt::format("{}\"key {}\": 0", i > 0 ? "," : "", i);
  std::string text = "{";
  for (int i = 0; i < 100; ++i) text += fmt::format("{}\"object {}\": {}}}", i > 0 ? "," : "", i, keys);
  write_bytes(path, text + "}");
  const auto refusal = [&] { return error_of([&] { read_checkpoint_metadata(folder / "step_00000001"); }); };
  CHECK(contains(refusal(), "it has more than 100,000 keys"));
  CHECK_FALSE(latest_checkpoint(folder.path()));
  std::filesystem::remove(path);
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  CHECK(contains(refusal(), "metadata.json\" is no file; use another checkpoint"));
  CHECK_FALSE(latest_checkpoint(folder.path()));
}

}  // namespace checkpoint_folder_test
