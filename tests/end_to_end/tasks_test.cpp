// Benchmarks and scores of a model, against lm-evaluation-harness on the same questions, and what it goes on with,
// against transformers (tests/fixtures/tasks).
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/gzipped_file.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

using namespace monomorph::testing;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const std::string fixtures = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/tasks/";

/// As make_tasks.py has it.
float weight(std::uint32_t place, bool is_norm) {
  std::uint32_t x = place;
  x ^= x >> 16;
  x *= 0x85EBCA6Bu;
  x ^= x >> 13;
  x *= 0xC2B2AE35u;
  x ^= x >> 16;
  const double uniform = static_cast<double>(x >> 8) / (1 << 24) - 0.5;
  return static_cast<float>(is_norm ? 1 + uniform / 2 : uniform / 2);
}

std::string safetensors() {
  const Json shapes = Json::parse(read_bytes(fixtures + "tensors.json"));
  Json header;
  std::string data;
  std::uint32_t number = 0;
  for (const auto& [name, shape] : shapes.items()) {  // in the order of names
    std::uint32_t n = 1;
    for (const Json& size : shape) n *= size.get<std::uint32_t>();
    const std::size_t begin = data.size();
    data.resize(begin + 4 * std::size_t{n});
    for (std::uint32_t i = 0; i < n; ++i) {
      const float value = weight(i + number * 1000003u, contains(name, "norm"));
      std::memcpy(data.data() + begin + 4 * std::size_t{i}, &value, 4);
    }
    header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
    ++number;
  }
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), 8) + text + data;
}

/// The model of the fixtures, imported.
struct Imported : TemporaryFolder {
  Imported() {
    fs::create_directory(*this / "model");
    write_bytes(*this / "model/model.safetensors", safetensors());
    for (const std::string file : {"config.json", "tokenizer.json"})
      write_bytes(*this / ("model/" + file), read_bytes(fixtures + file));
    const ProcessResult result = run_program("tasks_model", {"import", *this / "model", "--output", *this / "run"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  ProcessResult run(const std::string& command, const Arguments& more) const {
    return run_program("tasks_model", with(Arguments{command, "--checkpoint", *this / "run"}, more));
  }
  /// @param ending of the files' names
  Arguments asking(const Json& expected, const std::string& ending = ".jsonl") const {
    const std::string task = expected.at("task");
    Arguments arguments{"--task", task + "=" + fixtures + task + ending, "--output", *this / "answers.jsonl"};
    if (const int shots = expected.at("shots"); shots > 0)
      arguments = with(arguments, {"--shots", std::to_string(shots), "--shots-from",
                                   fixtures + task + (task == "mmlu" ? "_dev" : "_train") + ending});
    return arguments;
  }
  std::vector<Json> lines(const std::string& text) const {
    std::vector<Json> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }
};

/// The questions and examples as tables give the same bytes, on several ranks as well, or say what reads them.
void check_same_of_parquet(const Imported& model, const Json& expected, const std::string& of_lines) {
  const ProcessResult result = model.run("evaluate", with(model.asking(expected, ".parquet"), {"--ranks", "2"}));
  if (contains(result.err, "[DATA-76]")) {
    check_refusal(result, 2, {".parquet", "built without it", "tools/setup/install --parquet", "(--task)"});
    return;
  }
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out + read_bytes(model / "answers.jsonl") == of_lines);
}

/// The questions and examples as comma-separated values, a file for each subject, which patterns name.
void check_same_as_published(const Imported& model, const Json& expected, const std::string& of_lines) {
  const std::string folder = fixtures + "published/mmlu/", shots = std::to_string(expected.at("shots").get<int>());
  const ProcessResult result = model.run("evaluate", {"--task", "mmlu=" + folder + "*_test.csv", "--shots", shots,
                                                      "--shots-from", folder + "*_dev.csv"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out == of_lines);
}

/// "0.2500 ± 0.1306"
std::string numbers(const Json& results, const std::string& metric) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f ± %.4f", results.at(metric).get<double>(),
                results.at(metric + "_stderr").get<double>());
  return metric + " " + text;
}

}  // namespace

TEST_CASE("benchmarks have the numbers of lm-evaluation-harness, on one rank and with the same bits on two") {
  const Imported model;
  for (const Json& expected : Json::parse(read_bytes(fixtures + "expected.json"))) {
    const std::string task = expected.at("task");
    CAPTURE(task, expected.at("shots").get<int>());
    const ProcessResult result = model.run("evaluate", model.asking(expected));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    std::map<std::string, std::vector<Json>> answers;
    for (const Json& answer : model.lines(read_bytes(model / "answers.jsonl")))
      answers[answer.value("subject", task)].push_back(answer);
    for (const auto& [name, results] : expected.at("results").items()) {
      CAPTURE(name, result.out);
      const Json& likelihoods = results.at("log_likelihoods");
      REQUIRE(answers[name].size() == likelihoods.size());
      for (std::size_t i = 0; i < likelihoods.size(); ++i) {
        const auto ours = answers[name][i].at("log_likelihoods").get<std::vector<double>>();
        const auto theirs = likelihoods[i].get<std::vector<double>>();
        REQUIRE(ours.size() == theirs.size());
        for (std::size_t c = 0; c < ours.size(); ++c) CHECK(ours[c] == Approx(theirs[c]).margin(1e-4).epsilon(0));
      }
      CHECK(contains(result.out, name + ": " + numbers(results, "acc")));
      if (results.contains("acc_norm")) CHECK(contains(result.out, numbers(results, "acc_norm")));
    }
    if (task == "mmlu" && expected.at("shots") != 0) {
      check_same_of_parquet(model, expected, result.out + read_bytes(model / "answers.jsonl"));
      check_same_as_published(model, expected, result.out);
    }
  }

  // More questions than are scored at once.
  std::string questions;
  for (int i = 0; i < 8; ++i) questions += read_bytes(fixtures + "arc.jsonl");
  write_bytes(model / "arc.jsonl", questions);
  const auto answers = [&](const Arguments& more) {
    const std::string file = model / "answers.jsonl";
    fs::remove(file);
    const ProcessResult result =
        model.run("evaluate", with(Arguments{"--task", "arc=" + model / "arc.jsonl", "--output", file}, more));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return result.out + read_bytes(file);
  };
  CHECK(answers({"--ranks", "2"}) == answers({}));

  check_refusal(model.run("evaluate",
                          {"--task", "arc=" + model / "arc.jsonl", "--output", model / "none/file", "--ranks", "2"}),
                2, {"[FILE-01]", "none", "(--output)"});
  check_refusal(model.run("evaluate", {"--task", "squad=" + fixtures + "arc.jsonl"}), 2, {"[RUN-13]", "hellaswag"});
  check_refusal(model.run("evaluate", {"--task", "arc=" + fixtures + "arc.jsonl", "--shots", "4"}), 2, {"[TASK-05]"});
  const std::string of_arc = read_bytes(model / "arc.jsonl");
  check_refusal(model.run("evaluate",
                          {"--task", "arc=" + model / "*.jsonl", "--output", model / "arc.jsonl", "--ranks", "2"}),
                2, {"[TASK-07]", "arc.jsonl"});
  CHECK(read_bytes(model / "arc.jsonl") == of_arc);
  check_refusal(model.run("evaluate", {"--task", "arc=nowhere", "--ranks", "2"}), 2,
                {"[FILE-01]", "nowhere", "(--task)"});  // once for all ranks
}

TEST_CASE("texts are scored token by token, and long ones in windows") {
  const Imported model;
  const Json question =
      Json::parse(read_bytes(fixtures + "arc.jsonl").substr(0, read_bytes(fixtures + "arc.jsonl").find('\n')));
  const std::string text = "Question: " + question.at("question").get<std::string>();
  const auto scored = [&](const Arguments& arguments) {
    const ProcessResult result = model.run("score", arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return model.lines(result.out);
  };
  const Json one = scored({"--text", text}).at(0);
  double sum = 0;
  for (const Json& token : one.at("tokens")) sum += token.at("log_probability").get<double>();
  CHECK(one.at("log_probability").get<double>() == Approx(sum));
  CHECK(one.at("scored_tokens") == one.at("tokens").size());
  CHECK(one.at("bytes") == text.size());
  CHECK(one.at("bits_per_byte").get<double>() == Approx(-sum / std::log(2.0) / static_cast<double>(text.size())));
  CHECK(one.at("tokens").at(0).at("offset") == 0);
  CHECK(one.at("tokens").back().at("offset").get<std::size_t>() < text.size());

  std::string long_text;
  for (int i = 0; i < 40; ++i) long_text += text + "\n";
  write_bytes(model / "texts.jsonl",
              Json{{"text", long_text}, {"id", "long"}}.dump() + "\n" + Json{{"text", text}}.dump() + "\n");
  const std::vector<Json> both = scored({"--input", model / "texts.jsonl", "--stride", "100"});
  REQUIRE(both.size() == 2);
  CHECK(both[0].at("id") == "long");
  CHECK(both[0].at("scored_tokens").get<int>() > 512);
  for (std::size_t i = 0; i < one.at("tokens").size(); ++i)
    for (const Json& other : both)
      CHECK(other.at("tokens").at(i).at("log_probability").get<double>() ==
            Approx(one.at("tokens").at(i).at("log_probability").get<double>()).margin(1e-3));
  write_bytes(model / "texts.jsonl", "{\"prompt\": \"x\"}\n");
  check_refusal(model.run("score", {"--input", model / "texts.jsonl"}), 2, {"[SCORE-01]", "line 1", "\"text\""});
  check_refusal(model.run("score", {"--text", "x", "--stride", "257"}), 2, {"[SCORE-02]", "256"});
  check_refusal(model.run("score", {"--text", ""}), 2, {"[SCORE-03]", "text 1 is empty"});

  // Of texts before one that is wrong nothing is lost, and special tokens have the places at which they are spelled.
  write_bytes(model / "texts.jsonl", "{\"text\": \"a<|endoftext|>b\"}\n{\"text\": \"\"}\n");
  const ProcessResult cut = model.run("score", {"--input", model / "texts.jsonl"});
  CAPTURE(cut.out, cut.err);
  CHECK(cut.exit_code == 2);
  CHECK(contains(cut.err, "text 2 is empty"));
  const std::vector<Json> before = model.lines(cut.out);
  REQUIRE(before.size() == 1);
  const Json& tokens = before[0].at("tokens");
  REQUIRE(tokens.size() == 3);
  CHECK(tokens.at(1).at("offset") == 1);
  CHECK(tokens.at(2).at("offset") == 14);
}

TEST_CASE("an empty prompt begins behind the end of a text, whether or not such an end ends texts") {
  const Imported model;
  const auto text = [&](const Arguments& more) {
    const ProcessResult result = model.run("generate", with(Arguments{"--greedy", "--max-tokens", "3"}, more));
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  CHECK(text({"--ignore-end"}) == text({}));
  CHECK(text({"--ignore-end", "--stop-id", "5"}) == text({}));
}

TEST_CASE("generate and score read compressed lines and tables as they read lines") {
  const Imported model;
  const std::string lines = fixtures + "texts.jsonl", compressed = model / "texts.jsonl.gz";
  gzip(lines, compressed);
  for (const Arguments& command : {Arguments{"generate", "--greedy", "--max-tokens", "3"}, Arguments{"score"}}) {
    const auto run = [&](const std::string& input) {
      Arguments more(command.begin() + 1, command.end());
      return model.run(command[0], with(more, {"--input", input}));
    };
    const ProcessResult expected = run(lines), same = run(compressed), of_table = run(fixtures + "texts.parquet");
    CAPTURE(command, expected.err, same.err, of_table.err);
    REQUIRE(expected.exit_code == 0);
    CHECK(model.lines(expected.out).size() == 3);
    CHECK(same.out == expected.out);
    if (contains(of_table.err, "[DATA-76]"))
      check_refusal(of_table, 2, {".parquet", "built without it", "tools/setup/install --parquet", "(--input)"});
    else
      CHECK(of_table.out == expected.out);
  }
}

TEST_CASE("generate goes on with texts as transformers' generate does, up to the tokens that end them") {
  const Imported model;
  const Json expected = Json::parse(read_bytes(fixtures + "expected_texts.json"));
  std::string prompts;
  for (const Json& text : expected.at("texts")) prompts += Json{{"prompt", text.at("prompt")}}.dump() + "\n";
  write_bytes(model / "prompts.jsonl", prompts);
  std::string said;  // to whoever reads the texts
  const auto generated = [&](const Arguments& from) {
    const int most = expected.at("max_tokens");
    const ProcessResult result =
        model.run("generate", with(Arguments{"--greedy", "--max-tokens", std::to_string(most)}, from));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(result.err == said);
    return result.out;
  };
  const auto check = [&](const Json& texts) {
    const std::vector<Json> ours = model.lines(generated({"--input", model / "prompts.jsonl"}));
    REQUIRE(ours.size() == texts.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
      for (const char* const key : {"tokens", "text", "finish_reason"}) {
        CAPTURE(texts[i].at("prompt"), key);
        CHECK(ours[i].at(key) == texts[i].at(key));
      }
  };
  check(expected.at("texts"));
  const Json& one = expected.at("texts").at(2);
  const std::string prompt = one.at("prompt"), text = one.at("text");
  CHECK(generated({"--prompt", prompt}) == prompt + text + "\n");
  write_bytes(model / "run/generation_config.json", Json{{"eos_token_id", expected.at("ends")}}.dump());
  check(expected.at("ended_texts"));
  write_bytes(model / "run/generation_config.json",
              Json{{"repetition_penalty", expected.at("repetition_penalty")}}.dump());
  said = "the model's generation_config.json says how tokens are chosen: repetition_penalty " +
         expected.at("repetition_penalty").dump() + "; options say it otherwise\n";
  check(expected.at("penalized_texts"));
}

TEST_CASE("lm-evaluation-harness has the same numbers through serve as of the model itself") {
  const char* const chosen = std::getenv("MONOMORPH_HARNESS_PYTHON");
  const std::string python = chosen == nullptr ? "python3" : chosen;
  const auto with_peers = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> command{MONOMORPH_SOURCE_DIR, python};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return bash("PYTHONPATH=\"$1/.deps/peers:$PYTHONPATH\" exec \"${@:2}\"", command);
  };
  if (run_process(with_peers({"-c", "import lm_eval, transformers, aiohttp, tenacity"})).exit_code != 0)
    MONOMORPH_SKIP(
        "the packages lm-eval[api] and transformers are not there: tools/setup/install --peers installs them, or "
        "MONOMORPH_HARNESS_PYTHON names a Python that has them");
  const Imported model;
  const ProcessResult exported = model.run("export", {"--output", model / "exported"});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  Process server({program("tasks_model"), "serve", "--checkpoint", model / "run", "--port", "0", "--quiet"});
  Process asking(with_peers({fixtures + "harness.py", url_of(server), model / "exported"}));
  const ProcessResult harness = asking.wait(std::chrono::minutes(10));  // it imports much, and asks 250 times
  INFO(harness.out << harness.err);
  CHECK(harness.exit_code == 0);
  CHECK(contains(harness.out, "mmlu, 3 shots: 52 choices"));
  server.signal(SIGTERM);
  CHECK(server.wait(std::chrono::seconds(20)).exit_code == 0);
}
