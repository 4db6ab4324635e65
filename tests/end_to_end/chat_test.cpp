// monomorph-data chat: from messages to masked samples.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>

using namespace monomorph::testing;

namespace {

std::string fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/" + name;
}

Arguments chat_arguments(const std::string& input, const std::string& output, const Arguments& more = {}) {
  Arguments arguments{"chat",   input, "--tokenizer", fixture("tokenizer.json"), "--template",
                      "chatml", "-o",  output,        "--sequence-length",       "48"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

}  // namespace

TEST_CASE("chat: a set and its mask are written, byte for byte, and summed up") {
  const TemporaryFolder folder;
  const ProcessResult result = run_program("monomorph-data", chat_arguments(fixture("set.jsonl"), folder / "a.pbin"));
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(contains(result.out, "10 chats in 8 samples of 48 tokens, 83.1 % full; 122 tokens count"));
  CHECK(contains(result.out, "2 of 10 chats are longer than a sample"));
  CHECK(read_bytes(folder / "a.pbin") == read_bytes(fixture("set.pbin")));
  CHECK(read_bytes(folder / "a.mask") == read_bytes(fixture("set.mask")));

  const ProcessResult again = run_program("monomorph-data", chat_arguments(fixture("set.jsonl"), folder / "a.pbin"));
  check_refusal(again, 2, {"[DATA-01]", "a.pbin"});
  std::filesystem::remove(folder / "a.pbin");
  check_refusal(run_program("monomorph-data", chat_arguments(fixture("set.jsonl"), folder / "a.pbin")), 2,
                {"[DATA-01]", "a.mask"});
  const ProcessResult forced =
      run_program("monomorph-data",
                  chat_arguments(fixture("set.jsonl"), folder / "a.pbin",
                                 {"--force", "--json", "--roles", "user,assistant", "--on-too-long", "skip"}));
  CHECK(forced.exit_code == 0);
  CHECK(forced.err.empty());
  const auto summary = nlohmann::json::parse(forced.out);
  CHECK(summary["command"] == "chat");
  CHECK(summary["records"] == 10);
  CHECK(summary["chats"] == 8);
  CHECK(summary["too_long"] == 2);
  CHECK(summary["truncated"] == 0);
  CHECK(summary["counted_tokens"] > 100);
  CHECK(summary["fill"] > 0.5);
  CHECK(summary["mask"] == folder / "a.mask");
}

TEST_CASE("chat: what cannot be is refused in one line and leaves nothing") {
  const TemporaryFolder folder;
  const auto check = [&](int exit_code, const Arguments& arguments, const std::vector<std::string>& parts) {
    check_refusal(run_program("monomorph-data", arguments), exit_code, parts);
    CHECK(n_entries(folder.path()) == 1);
  };
  const std::string input = folder / "in.jsonl", output = folder / "a.pbin";
  write_bytes(input, "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}]}\n{}\n");
  check(1, chat_arguments(input, output), {"[CHAT-03]", "in.jsonl\", line 2"});
  check(2, chat_arguments(input, output, {"--roles", "assistant,bot"}), {"[CHAT-09]", "\"bot\""});
  check(2, chat_arguments(input, output, {"--on-too-long", "cut"}), {"[DATA-10]", "cut"});
  check(2, chat_arguments(input, output, {"--field", "messages"}), {"[DATA-10]", "messages"});
  Arguments other = chat_arguments(input, output);
  other[5] = "alpaca";
  check(2, other, {"[CHAT-01]", "chatml, llama-3, gemma, mistral, zephyr"});
  other[5] = "llama-3";
  other[3] = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/data/gpt2_tokenizer.json";
  check(2, other, {"[CHAT-02]", "\"<|begin_of_text|>\", \"<|start_header_id|>\""});
  check(2, {"chat", input, "-o", output}, {"[DATA-10]"});
}

TEST_CASE("chat: a model's own template is taken from beside the tokenizer, a folder or a file") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  write_bytes(folder / "model/tokenizer.json", read_bytes(fixture("tokenizer.json")));
  write_bytes(folder / "in.jsonl",
              R"({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]})");
  const auto pack = [&](const std::string& output, const Arguments& more) {
    Arguments arguments{"chat", folder / "in.jsonl", "--tokenizer",       folder / "model/tokenizer.json",
                        "-o",   folder / output,     "--sequence-length", "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program("monomorph-data", arguments);
  };
  check_refusal(pack("a.pbin", {}), 2, {"[CHAT-17]", "model", "--template"});
  write_bytes(folder / "model/tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
  write_bytes(folder / "model/chat_template.jinja",
              "{% for m in messages %}<{{ strftime_now('%d.%m.%Y') }}>{% if m.role == 'assistant' %}{% generation %}"
              "{{ m.content }}{% endgeneration %}{% else %}{{ m.content }}{% endif %}{% endfor %}");
  for (const auto& [output, more] :
       {std::pair{"a", Arguments{"--date", "2025-03-09"}},
        {"b", {"--template", folder / "model", "--date", "2025-03-09"}},
        {"c", {"--template", folder / "model/chat_template.jinja", "--date", "2025-03-09"}},
        {"d", {"--date", "2025-03-10"}}}) {
    const ProcessResult result = pack(output + std::string(".pbin"), more);
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(contains(result.out, "1 chats in 1 samples of 40 tokens"));
    CHECK(contains(result.out, "; 1 tokens count in the loss"));
  }
  CHECK(read_bytes(folder / "a.pbin") == read_bytes(folder / "b.pbin"));
  CHECK(read_bytes(folder / "a.mask") == read_bytes(folder / "c.mask"));
  CHECK(read_bytes(folder / "a.pbin") != read_bytes(folder / "d.pbin"));
  check_refusal(pack("e.pbin", {"--date", "2025-02-30"}), 2, {"[CHAT-09]", "2025-02-30", "2025-03-09"});
  check_refusal(pack("e.pbin", {"--date", "tomorrow"}), 2, {"[CHAT-09]"});
  check_refusal(pack("e.pbin", {"--template", "chatml", "--date", "2025-03-09"}), 2, {"[CHAT-09]", "--date"});
  check_refusal(pack("e.pbin", {"--roles", "user"}), 2, {"[CHAT-09]", "--roles"});
  check_refusal(pack("e.pbin", {"--template", folder / "nowhere.jinja"}), 2, {"[CHAT-01]", "nowhere.jinja"});
  write_bytes(folder / "model/chat_template.jinja",
              "{{ messages|length }}{% for m in messages %}{{ m.content }}{% endfor %}");
  check_refusal(pack("e.pbin", {}), 1, {"[CHAT-18]", "in.jsonl\", line 1", "{% generation %}"});
  CHECK_FALSE(std::filesystem::exists(folder / "e.pbin"));
}

TEST_CASE("preferences: chats are written by the same templates, chosen in the same way") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  write_bytes(folder / "model/tokenizer_config.json", R"({"eos_token": "<|im_end|>"})");
  write_bytes(folder / "model/chat_template.jinja",
              "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
              "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}");
  write_bytes(folder / "in.jsonl", R"({"prompt": [{"role": "user", "content": "a"}],
    "chosen": [{"role": "assistant", "content": "b"}], "rejected": [{"role": "assistant", "content": "c"}]})");
  std::string in = read_bytes(folder / "in.jsonl");
  std::erase(in, '\n');
  write_bytes(folder / "in.jsonl", in);
  const auto pack = [&](const std::string& output, const Arguments& more) {
    return run_program("monomorph-data",
                       with(Arguments{"preferences", folder / "in.jsonl", "--tokenizer", fixture("tokenizer.json"),
                                      "-o", folder / output, "--sequence-length", "80"},
                            more));
  };
  for (const auto& [output, chosen] : {std::pair{"name", std::string("chatml")},
                                       {"folder", folder / "model"},
                                       {"file", folder / "model/chat_template.jinja"}}) {
    const ProcessResult result = pack(output + std::string(".pbin"), {"--template", chosen});
    CAPTURE(chosen, result.err);
    CHECK(result.exit_code == 0);
    CHECK(read_bytes(folder / (output + std::string(".pbin"))) == read_bytes(folder / "name.pbin"));
    CHECK(read_bytes(folder / (output + std::string(".mask"))) == read_bytes(folder / "name.mask"));
  }
  const std::string nowhere = folder / "nowhere.jinja";
  check_refusal(pack("x.pbin", {"--template", nowhere}), 2, {"[CHAT-01]", "nowhere.jinja", "chatml, llama-3, gemma"});
  check_refusal(pack("x.pbin", {"--template", "alpaca"}), 2, {"[CHAT-01]", "alpaca", "chatml, llama-3, gemma"});
  check_refusal(pack("x.pbin", {"--date", "2025-03-09"}), 2, {"[CHAT-09]", "--date"});
  check_refusal(pack("x.pbin", {"--template", folder / "model", "--date", "9.3.2025"}), 2, {"[CHAT-09]", "9.3.2025"});
  write_bytes(folder / "model/chat_template.jinja", "{% if");
  check_refusal(pack("x.pbin", {"--template", folder / "model"}), 2, {"[JINJA-01]", "chat_template.jinja"});
}

TEST_CASE("chat: an interrupted run leaves nothing") {
  const TemporaryFolder folder;
  const std::string line =
      "{\"messages\": [{\"role\": \"user\", \"content\": \"x\"}, "
      "{\"role\": \"assistant\", \"content\": \"" +
      std::string(400, 'y') + "\"}]}\n";
  std::string lines;
  while (lines.size() < (30u << 20)) lines += line;
  write_bytes(folder / "in.jsonl", lines);
  Arguments arguments = chat_arguments(folder / "in.jsonl", folder / "a.pbin");
  arguments.insert(arguments.begin(), program("monomorph-data"));
  Process process(arguments);
  for (int i = 0; i < 6000 && n_entries(folder.path()) == 1; ++i) ::usleep(1000);  // until its output is begun
  process.signal(SIGTERM);
  const ProcessResult result = process.wait();
  CHECK(result.exit_code == 128 + SIGTERM);
  CHECK(contains(result.err, "[DATA-11]"));
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("chat: a run learns what the mask counts and nothing else") {
  const Workplace place("tiny_gpt2");
  const std::string tokenizer = place / "chat_tokenizer.json";
  REQUIRE(run_program("monomorph-data", {"train-tokenizer", place / "train.txt", "--vocab-size", "257", "--special",
                                         "</s>", "--output", tokenizer})
              .exit_code == 0);
  // Questions that nobody could foresee, and always the same answer.
  const auto pack = [&](const std::string& name, unsigned seed, int n_chats) {
    std::mt19937 random(seed);
    std::string lines;
    for (int i = 0; i < n_chats; ++i) {
      std::string question;
      for (int k = 0; k < 3; ++k) question += static_cast<char>('a' + random() % 26);
      lines += R"([{"from": "human", "value": ")" + question + R"("}, {"from": "gpt", "value": "ok"}])" + "\n";
    }
    write_bytes(place / (name + ".jsonl"), lines);
    const ProcessResult result =
        run_program("monomorph-data",
                    {"chat", place / (name + ".jsonl"), "--tokenizer", tokenizer, "--template", "zephyr",
                     "--sequence-length", "32", "--output", place / (name + ".pbin"), "--force", "--json"});
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out);
  };
  CHECK(pack("train", 1, 400)["counted_tokens"] == 400 * 3);
  const auto held_out = pack("held_out", 2, 24);
  const std::vector<std::string> sets{"run.steps=60", "optimizer.lr=0.01", "data.tokenizer=" + tokenizer};

  REQUIRE(place.train("masked", sets).exit_code == 0);
  const double counted = metric_values(place / "masked", "evaluation_tokens").at(60);
  CHECK(counted == held_out["counted_tokens"].get<double>());
  const double masked_loss = metric_values(place / "masked", "evaluation_loss").at(60);
  CHECK(masked_loss < 0.05);
  CHECK(metric_values(place / "masked", "loss").at(60) < 0.05);

  // As many tokens, of which two have changed places.
  auto other = nlohmann::json::parse(read_bytes(tokenizer));
  std::swap(other["model"]["vocab"]["x"], other["model"]["vocab"]["y"]);
  write_bytes(place / "swapped_tokenizer.json", other.dump());
  check_refusal(place.train("other", {"data.tokenizer=" + place / "swapped_tokenizer.json"}), 2,
                {"[CHAT-15]", "train.mask", "swapped_tokenizer.json", "(data.train)"});

  for (const std::string part : {"train", "held_out"}) std::filesystem::remove(place / (part + ".mask"));
  REQUIRE(place.train("unmasked", sets).exit_code == 0);
  CHECK(metric_values(place / "unmasked", "evaluation_tokens").at(60) == held_out["samples"].get<double>() * 32);
  CHECK(metric_values(place / "unmasked", "evaluation_loss").at(60) > 0.25);  // of 31 tokens 3 are one of 26 letters

  write_bytes(place / "train.mask", read_bytes(fixture("set.mask")));
  check_refusal(place.train("wrong_mask", sets), 2, {"[CHAT-11]", "train.mask"});
}
