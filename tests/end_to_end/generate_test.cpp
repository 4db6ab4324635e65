// Text from a checkpoint.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <sstream>

using namespace monomorph::testing;
using JsonLine = nlohmann::ordered_json;

namespace {

/// What one write() of a program has brought. Packet mode (pipe(7)) keeps them apart.
class PacketPipe {
 public:
  PacketPipe() { REQUIRE(::pipe2(ends_.data(), O_DIRECT) == 0); }
  ~PacketPipe() {
    for (const int end : ends_) ::close(end);
  }
  int entrance() const { return ends_[1]; }
  std::string next() const {
    pollfd exit{ends_[0], POLLIN, 0};
    REQUIRE(::poll(&exit, 1, 60'000) == 1);
    std::string packet(1 << 16, '\0');
    const ssize_t size = ::read(ends_[0], packet.data(), packet.size());
    REQUIRE(size > 0);
    return packet.substr(0, static_cast<std::size_t>(size));
  }

 private:
  std::array<int, 2> ends_{};
};

}  // namespace

TEST_CASE("generate: greedy and seeded text is repeatable, prompts may be longer than the context, or empty") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  const auto generate = [&](const Arguments& more) {
    Arguments arguments{"generate", "--checkpoint", place / "run", "--max-tokens", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = place.run(arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    CHECK(result.out.ends_with("\n"));
    return result.out;
  };
  const std::string greedy = generate({"--prompt", "First", "--greedy"});
  CHECK(greedy.starts_with("First"));
  CHECK(generate({"--prompt", "First", "--greedy", "--seed", "5"}) == greedy);
  CHECK(generate({"--prompt", "First", "--top-k", "1"}) == greedy);

  const std::string seeded = generate({"--prompt", "First", "--seed", "5"});
  CHECK(generate({"--prompt", "First", "--seed", "5"}) == seeded);
  CHECK(generate({"--prompt", "First", "--seed", "6"}) != seeded);

  const std::string stop = greedy.substr(20, 3);  // may come earlier, too
  REQUIRE(stop.size() == 3);
  const std::string before = greedy.substr(0, greedy.find(stop, 5)) + "\n";
  CHECK(generate({"--prompt", "First", "--greedy", "--stop", stop}) == before);
  CHECK(generate({"--prompt", "First", "--greedy", "--stop", "never to come", "--stop", stop}) == before);
  CHECK(generate({"--prompt", "First", "--greedy", "--stop", "never", "--stop", "First"}) == greedy);

  const std::string whole = read_bytes(place / "held_out.txt").substr(0, 1000);  // far more than 32 tokens
  CHECK(generate({"--prompt", whole, "--greedy"}).starts_with(whole));
  CHECK_FALSE(generate({"--prompt", "", "--seed", "5"}).empty());
  CHECK(generate({"--seed", "5"}) == generate({"--prompt", "", "--seed", "5"}));
  CHECK(generate({"--prompt", "\xff", "--greedy"}).starts_with("\xff"));

  check_refusal(place.run({"generate", "--checkpoint", place / "nowhere", "--prompt", "a"}), 2,
                {"[RUN-03]", "nowhere"});
  check_refusal(place.run({"generate", "--checkpoint", place / "run", "--tokenizer", place / "nowhere.json"}), 2,
                {"[FILE-01]", "nowhere.json"});
  for (const Arguments& wrong : {Arguments{"--temperature", "0"},
                                 {"--top-p", "1.5"},
                                 {"--top-k", "-1"},
                                 {"--max-tokens", "0"},
                                 {"--stop", ""},
                                 {"--seed", "-1"},
                                 {"--min-p", "1.1"},
                                 {"--repetition-penalty", "0"},
                                 {"--frequency-penalty", "101"},
                                 {"--presence-penalty", "nan"},
                                 {"--logit-bias", "5"},
                                 {"--logit-bias", "5=10001"},
                                 {"--stop-id", "-1"},
                                 {"--samples", "0"},
                                 {"--batch", "0"},
                                 {"--cache-tokens", "0"},
                                 {"--log-probabilities", "-1"},
                                 {"--input", "prompts.jsonl"},
                                 {"--prompt-file", "prompt.txt"}}) {
    CAPTURE(wrong);
    Arguments arguments{"generate", "--checkpoint", place / "run", "--prompt", "a"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    check_refusal(place.run(arguments), 2, {"[RUN-13]", wrong[0]});
  }
}

TEST_CASE("generate reads prompts from files, and writes a line of JSON for each text, in their order") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  const std::vector<std::string> prompts{"First", "The king of all the lands that there are", "O", "Speak, \"friend\""};
  std::string lines;
  for (const std::string& prompt : prompts) lines += JsonLine{{"prompt", prompt}, {"id", prompt.size()}}.dump() + "\n";
  write_bytes(place / "prompts.jsonl", lines);
  const auto generate = [&](Arguments more) {
    Arguments arguments{"generate", "--checkpoint", place / "run", "--max-tokens", "12"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = place.run(arguments);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  const auto texts_of = [](const std::string& out) {
    std::vector<JsonLine> texts;
    std::istringstream stream(out);
    for (std::string line; std::getline(stream, line);) texts.push_back(JsonLine::parse(line));
    return texts;
  };

  for (const std::string batch : {"1", "3"}) {
    const std::vector<JsonLine> texts =
        texts_of(generate({"--input", place / "prompts.jsonl", "--greedy", "--batch", batch}));
    REQUIRE(texts.size() == prompts.size());
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      CHECK(texts[i]["index"] == i);
      CHECK(texts[i]["id"] == prompts[i].size());
      CHECK(texts[i]["tokens"].size() == 12);
      CHECK(texts[i]["finish_reason"] == "length");
      CHECK(generate({"--prompt", prompts[i], "--greedy"}) == prompts[i] + texts[i]["text"].get<std::string>() + "\n");
    }
  }

  write_bytes(place / "prompt.txt", prompts[1]);
  CHECK(generate({"--prompt-file", place / "prompt.txt", "--seed", "3"}) ==
        generate({"--prompt", prompts[1], "--seed", "3"}));

  const std::vector<JsonLine> samples =
      texts_of(generate({"--prompt", "First", "--samples", "3", "--seed", "5", "--log-probabilities", "2"}));
  REQUIRE(samples.size() == 3);
  CHECK(samples[0]["text"] != samples[1]["text"]);
  CHECK(generate({"--prompt", "First", "--seed", "5"}) == "First" + samples[0]["text"].get<std::string>() + "\n");
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(samples[i]["sample"] == i);
    REQUIRE(samples[i]["log_probabilities"].size() == 12);
    const JsonLine& first = samples[i]["log_probabilities"][0];
    CHECK(first["id"] == samples[i]["tokens"][0]);
    CHECK(first["log_probability"] <= first["most_probable"][0]["log_probability"]);
    CHECK(first["most_probable"].size() == 2);
  }

  // A token that a bias makes certain, as one that ends the text and as one that does not.
  const std::string end = std::to_string(samples[0]["tokens"][0].get<int>()), certain = end + "=10000";
  CHECK(generate({"--prompt", "First", "--logit-bias", certain, "--stop-id", end}) == "First\n");
  CHECK(texts_of(generate({"--prompt", "First", "--logit-bias", certain, "--log-probabilities", "0"}))[0]["tokens"] ==
        JsonLine(std::vector<int>(12, samples[0]["tokens"][0].get<int>())));

  write_bytes(place / "broken.jsonl", "{\"prompt\": \"a\"}\n{\"prompt\": 5}\n");
  const std::string run = place / "run";
  check_refusal(place.run({"generate", "--checkpoint", run, "--input", place / "broken.jsonl"}), 2,
                {"[RUN-30]", "line 2", "broken.jsonl"});
  check_refusal(place.run({"generate", "--checkpoint", run, "--input", place / "nowhere.jsonl"}), 2,
                {"[FILE-01]", "nowhere.jsonl"});
  check_refusal(place.run({"generate", "--checkpoint", run, "--prompt-file", place / "nowhere.txt"}), 2,
                {"[FILE-01]", "nowhere.txt"});
  check_refusal(place.run({"generate", "--checkpoint", run, "--prompt", "a", "--stop-id", "70000"}), 2,
                {"[RUN-31]", "70000"});
  check_refusal(place.run({"generate", "--checkpoint", run, "--prompt", "a", "--cache-tokens", "4"}), 2,
                {"[RUN-28]", "--cache-tokens"});
}

TEST_CASE("generate writes each piece of text at once, and not at the end") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run", {"run.steps=3"}).exit_code == 0);
  const PacketPipe pipe;
  const Process endless(bash("exec \"$@\" >&" + std::to_string(pipe.entrance()),
                             command(place, {"generate", "--checkpoint", place / "run", "--prompt", "First", "--greedy",
                                             "--max-tokens", "1000000000"})));
  CHECK(pipe.next() == "First");
  for (int i = 0; i < 100; ++i) CHECK(pipe.next().size() < 100);
}

TEST_CASE("generate finds the tokeniser in the run folder, even when everything has moved") {
  const Workplace place("tiny_gpt2");
  REQUIRE(place.train("run").exit_code == 0);
  std::filesystem::rename(place / "run", place / "moved");
  std::filesystem::remove(place / "tokenizer.json");
  const std::string checkpoint = place / "moved/checkpoints/step_00000012";
  const ProcessResult from_run = place.run({"generate", "--checkpoint", place / "moved", "--prompt", "a", "--greedy"});
  CHECK(from_run.exit_code == 0);
  for (const std::string& path : {checkpoint, checkpoint + "/", place / "moved/checkpoints"}) {
    CAPTURE(path);
    CHECK(place.run({"generate", "--checkpoint", path, "--prompt", "a", "--greedy"}).out == from_run.out);
  }
  std::filesystem::remove(place / "moved/tokenizer.json");
  check_refusal(place.run({"generate", "--checkpoint", checkpoint, "--prompt", "a"}), 2,
                {"[FILE-01]", "tokenizer.json"});
}

TEST_CASE("a run without a tokeniser trains and evaluates, but has no bits per byte and writes no text") {
  const Workplace place("tiny_gpt2");
  const ProcessResult training = place.train("run", {"data.tokenizer=", "run.steps=4"});
  REQUIRE(training.exit_code == 0);
  CHECK(contains(training.out, "perplexity"));
  CHECK_FALSE(contains(training.out, "bits per byte"));
  check_refusal(place.run({"generate", "--checkpoint", place / "run", "--prompt", "a"}), 2,
                {"[RUN-11]", "--tokenizer"});
  const ProcessResult evaluation =
      place.run({"evaluate", "--checkpoint", place / "run", "--tokenizer", place / "tokenizer.json"});
  CHECK(contains(evaluation.out, "bits per byte"));

  REQUIRE(place.train("blind", {"data.evaluation=", "run.steps=4"}).exit_code == 0);
  check_refusal(place.run({"evaluate", "--checkpoint", place / "blind"}), 2, {"[RUN-12]", "--data"});
  CHECK(place.run({"evaluate", "--checkpoint", place / "blind", "--data", place / "held_out.pbin"}).exit_code == 0);
  check_refusal(place.run({"evaluate", "--checkpoint", place / "blind", "--data", place / "nowhere.pbin"}), 2,
                {"[FILE-01]", "nowhere.pbin"});
}

TEST_CASE("generate divides texts among ranks, and shows them in their order") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  std::string prompts;
  for (int i = 0; i < 11; ++i)
    prompts += JsonLine{{"prompt", std::string(1, static_cast<char>('A' + i))}, {"id", i}}.dump() + "\n";
  write_bytes(place / "prompts.jsonl", prompts);
  const Arguments arguments{
      "generate", "--checkpoint", place / "run", "--max-tokens", "9", "--input", place / "prompts.jsonl", "--samples",
      "2",        "--seed",       "4",           "--batch"};
  const auto out_of = [&](const Arguments& more) {
    const ProcessResult result = place.run(with(arguments, more));
    CAPTURE(more, result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.err.empty());
    return result.out;
  };
  // With one text at a time a text's bits depend on nothing but itself.
  const std::string one = out_of({"1"});
  CHECK(std::ranges::count(one, '\n') == 22);
  for (const std::string ranks : {"1", "2", "3"}) CHECK(out_of({"1", "--ranks", ranks}) == one);
  CHECK(std::ranges::count(out_of({"4", "--ranks", "2"}), '\n') == 22);

  const Arguments many_samples{"generate", "--checkpoint", place / "run", "--prompt", "A", "--max-tokens",
                               "9",        "--seed",       "4",           "--batch",  "1", "--samples"};
  CHECK(place.run(with(many_samples, {"5", "--ranks", "2"})).out == place.run(with(many_samples, {"5"})).out);

  // More ranks than texts; no texts at all.
  CHECK(place.run(with(many_samples, {"2", "--ranks", "4"})).out == place.run(with(many_samples, {"2"})).out);
  write_bytes(place / "none.jsonl", "");
  const ProcessResult none =
      place.run({"generate", "--checkpoint", place / "run", "--input", place / "none.jsonl", "--ranks", "2"});
  CHECK(none.exit_code == 0);
  CHECK(none.out.empty());

  check_refusal(place.run(with(many_samples, {"1", "--ranks", "2"})), 2, {"[RUN-13]", "--ranks", "there is one"});
  check_refusal(place.run({"generate", "--checkpoint", place / "run", "--input", "-", "--ranks", "2"}), 2,
                {"[RUN-13]", "--input -", "give a file"});
  write_bytes(place / "broken.jsonl", prompts + "{\"prompt\": 5}\n");
  check_refusal(place.run(
                    {"generate", "--checkpoint", place / "run", "--input", place / "broken.jsonl", "--ranks", "2"}),
                2, {"[RUN-30]", "line 12"});
}

TEST_CASE("generate writes texts that are valid by a schema, beyond the context, too") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  write_bytes(
      place / "schema.json",
      R"({"type": "object", "properties": {"zeal": {"enum": ["none", "some \"zeal\""]}, "age": {"type": "integer",
                  "minimum": 18, "maximum": 99}, "kings": {"type": "array", "items": {"const": "king"}, "minItems": 9, "maxItems": 12}},
                  "required": ["zeal", "age", "kings"], "additionalProperties": false})");
  const Arguments arguments{"generate",
                            "--checkpoint",
                            place / "run",
                            "--prompt",
                            "First",
                            "--samples",
                            "6",
                            "--seed",
                            "1",
                            "--max-tokens",
                            "400",
                            "--batch",
                            "4",
                            "--json-schema",
                            place / "schema.json"};
  const ProcessResult result = place.run(arguments);
  CAPTURE(result.out, result.err);
  REQUIRE(result.exit_code == 0);
  std::istringstream stream(result.out);
  int n_texts = 0;
  for (std::string line; std::getline(stream, line); ++n_texts) {
    const auto text = JsonLine::parse(line);
    CHECK(text["finish_reason"] == "stop");
    CHECK(text["tokens"].size() > 32);
    const auto value = JsonLine::parse(text["text"].get<std::string>());
    CHECK(value.begin().key() == "zeal");
    CHECK(value["zeal"].is_string());
    CHECK((value["age"] >= 18 && value["age"] <= 99));
    CHECK((value["kings"].size() >= 9 && value["kings"].size() <= 12));
  }
  CHECK(n_texts == 6);

  const auto refused = [&](const std::string& schema, const std::vector<std::string>& parts) {
    write_bytes(place / "schema.json", schema);
    check_refusal(place.run(arguments), 2, parts);
  };
  refused(R"({"properties": {"a": {"pattern": "x"}}})",
          {"[RUN-32]", "schema.json", "schema.properties.a.pattern is not supported here"});
  refused("{", {"[RUN-32]", "schema.json", "is no JSON"});
  refused(std::string(100'000, '['), {"[RUN-32]", "is no JSON"});
  std::filesystem::remove(place / "schema.json");
  check_refusal(place.run(arguments), 2, {"[FILE-01]", "schema.json", "--json-schema"});
}

TEST_CASE("a rank that is killed while it generates ends the others, with the lines before its own") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  std::string prompts;
  for (int i = 0; i < 40; ++i) prompts += JsonLine{{"prompt", std::to_string(i)}}.dump() + "\n";
  write_bytes(place / "prompts.jsonl", prompts);
  const std::string begun = "while kill -0 $parent && [ \"$(pgrep -c -P $parent)\" != 2 ]; do sleep 0.1; done";
  const auto ended = Process(bash("\"$@\" & parent=$!; " + begun + "; sleep 1; pkill -KILL -n -P $parent; wait $parent",
                                  command(place, {"generate", "--checkpoint", place / "run", "--max-tokens", "1000000",
                                                  "--ignore-end", "--input", place / "prompts.jsonl", "--ranks", "2"})))
                         .wait(std::chrono::minutes(1));
  CHECK(ended.exit_code == 1);
  CHECK(contains(ended.err, "was ended by signal 9"));
}
