#include "programs.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace monomorph::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::size_t train_bytes = 6000, held_out_bytes = 1500;

void succeed(const ProcessResult& result) {
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
}

}  // namespace

std::string program(const std::string& name) { return std::string(MONOMORPH_BINARY_DIR) + "/" + name; }

ProcessResult run_program(const std::string& name, const Arguments& arguments,
                          const Process::Environment& environment) {
  Arguments all{program(name)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_process(all, environment);
}

bool is_one_line(const std::string& text) {
  return text.size() > 1 && text.back() == '\n' && std::ranges::count(text, '\n') == 1;
}

std::string url_of(Process& server) {
  INFO(server.out());
  REQUIRE(server.wait_for_output("/v1\n"));
  std::string said = server.out();
  said.pop_back();
  return said.substr(said.rfind(' ') + 1);
}

void check_refusal(const ProcessResult& result, int exit_code, const std::vector<std::string>& parts) {
  check_refusals(result, exit_code, {parts});
}

void check_refusals(const ProcessResult& result, int exit_code, const std::vector<std::vector<std::string>>& parts) {
  CAPTURE(result.err);
  CHECK(result.exit_code == exit_code);
  CHECK(static_cast<std::size_t>(std::ranges::count(result.err, '\n')) == parts.size());
  std::istringstream lines(result.err);
  std::string line;
  for (const std::vector<std::string>& mistake : parts) {
    std::getline(lines, line);
    CHECK(line.starts_with("error: "));
    for (const std::string& part : mistake) {
      CAPTURE(line, part);
      CHECK(contains(line, part));
    }
  }
}

Workplace::Workplace(std::string recipe) : recipe_(std::move(recipe)) {
  const std::string text = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt");
  REQUIRE(text.size() > train_bytes + held_out_bytes);
  write_bytes(*this / "train.txt", text.substr(0, train_bytes));
  write_bytes(*this / "held_out.txt", text.substr(train_bytes, held_out_bytes));
  const std::string vocab_size = recipe_.starts_with("tiny_gpt2") ? "257" : "512", tokenizer = *this / "tokenizer.json";
  succeed(run_program("monomorph-data",
                      {"train-tokenizer", *this / "train.txt", "--vocab-size", vocab_size, "--output", tokenizer}));
  for (const std::string part : {"train", "held_out"})
    succeed(run_program("monomorph-data", {"pack", *this / (part + ".txt"), "--tokenizer", tokenizer, "--output",
                                           *this / (part + ".pbin")}));
}

std::string Workplace::hparams_file(const std::string& name) const {
  const Json json{{"run", {{"steps", 12}, {"seed", 7}, {"output_dir", *this / name}}},
                  {"data",
                   {{"train", *this / "train.pbin"},
                    {"evaluation", *this / "held_out.pbin"},
                    {"tokenizer", *this / "tokenizer.json"}}},
                  {"batch", {{"global_batch", 8}, {"micro_batch", 4}}},
                  {"optimizer", {{"lr", 0.003}}},
                  {"schedule", {{"warmup_steps", 3}}},
                  {"log", {{"every", 1}}}};
  std::string path = *this / (name + ".json");
  write_bytes(path + ".new", json.dump(2));
  fs::rename(path + ".new", path);  // a run that has just been started may be reading the one before
  return path;
}

Arguments Workplace::training(const std::string& name, const std::vector<std::string>& sets) const {
  Arguments arguments{"--hparams", hparams_file(name)};
  for (const std::string& set : sets) arguments.insert(arguments.end(), {"--set", set});
  return arguments;
}

ProcessResult Workplace::train(const std::string& name, const std::vector<std::string>& sets) const {
  return run(training(name, sets));
}

ProcessResult Workplace::run(const Arguments& arguments, const Process::Environment& environment) const {
  return run_process(command(*this, arguments), environment);
}

Arguments command(const Workplace& place, const Arguments& arguments) {
  Arguments all{program(place.recipe())};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

std::string state_of(const std::string& checkpoint) {
  Json metadata = Json::parse(read_bytes(checkpoint + "/metadata.json"));
  for (const char* const other : {"hyperparameters", "metadata_checksum", "recipe", "ranks", "files"})
    metadata.erase(other);
  const ProcessResult tensors = run_program("monomorph-checkpoint", {"digest", checkpoint});
  succeed(tensors);
  return metadata.dump() + tensors.out;
}

std::vector<std::string> checkpoints_of(const std::string& run_folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(run_folder + "/checkpoints", failure))
    names.push_back(entry.path().filename().string());
  std::erase(names, ".owner");
  std::ranges::sort(names);
  return names;
}

std::string final_state(const std::string& run_folder) {
  succeed(run_program("monomorph-checkpoint", {"verify", run_folder + "/checkpoints"}));
  const std::vector<std::string> names = checkpoints_of(run_folder);
  return state_of(run_folder + "/checkpoints/" + names.back());
}

std::map<std::int64_t, std::string> metric(const std::string& run_folder, const std::string& name) {
  std::map<std::int64_t, std::string> values;
  std::istringstream lines(read_bytes(run_folder + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const Json record = Json::parse(line);
    if (!record.contains(name)) continue;
    const bool is_new = values.emplace(record.at("step").get<std::int64_t>(), record.at(name).dump()).second;
    CHECK(is_new);
  }
  return values;
}

std::map<std::int64_t, double> metric_values(const std::string& run_folder, const std::string& name) {
  std::map<std::int64_t, double> values;
  for (const auto& [step, text] : metric(run_folder, name)) values[step] = Json::parse(text).get<double>();
  return values;
}

}  // namespace monomorph::testing
