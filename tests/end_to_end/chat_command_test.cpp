// Talking with a model: standard input is what is said, and a chat template puts it together.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <filesystem>

using namespace monomorph::testing;

TEST_CASE("chat answers each line with the conversation before it, as its template writes it") {
  const Workplace place("tiny_llama");
  REQUIRE(place.train("run").exit_code == 0);
  write_bytes(place / "plain.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  const auto chat = [&](const std::string& input, const std::string& chat_template, const Arguments& more = {}) {
    Arguments arguments{"chat", "--checkpoint", place / "run", "--greedy", "--max-tokens", "5"};
    if (!chat_template.empty()) arguments.insert(arguments.end(), {"--template", place / chat_template});
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_process(bash("printf '" + input + "' | \"$@\"", command(place, arguments)));
  };
  const auto continued = [&](const std::string& prompt) {
    const ProcessResult result =
        place.run({"generate", "--checkpoint", place / "run", "--greedy", "--max-tokens", "5", "--prompt", prompt});
    REQUIRE(result.exit_code == 0);
    return result.out.substr(prompt.size(), result.out.size() - prompt.size() - 1);
  };
  const std::string first = continued("First"), second = continued("First" + first + " and");

  // What was said and answered comes before what is said next, until /reset.
  const ProcessResult said = chat("First\\n\\n and\\n/reset\\nFirst\\n/exit\\nnever\\n", "plain.jinja");
  CHECK(said.err == "");
  CHECK(said.exit_code == 0);
  CHECK(said.out == first + "\n" + second + "\n" + first + "\n");
  CHECK(chat("rst", "plain.jinja", {"--system", "Fi"}).out == first + "\n");

  // Variables are given to a model's own template, and to no other.
  write_bytes(place / "opening.jinja", "{{ opening }}{% for m in messages %}{{ m.content }}{% endfor %}");
  CHECK(chat("rst", "opening.jinja", {"--template-kwargs", R"({"opening": "Fi"})"}).out == first + "\n");
  check_refusal(chat("a", "opening.jinja", {"--template-kwargs", "opening"}), 2, {"[CHAT-20]", "--template-kwargs"});
  check_refusal(chat("a", "", {"--template", "zephyr", "--template-kwargs", R"({"opening": 1})"}), 2,
                {"[CHAT-21]", "zephyr", "\"opening\"", "(--template)"});

  // Without --max-tokens an answer has as many as there is room for.
  const ProcessResult long_answer = run_process(
      bash("printf 'First\\n' | \"$@\"", command(place, {"chat", "--checkpoint", place / "run", "--greedy",
                                                         "--ignore-end", "--template", place / "plain.jinja"})));
  CHECK(long_answer.exit_code == 0);
  CHECK(long_answer.out.starts_with(first));
  CHECK(long_answer.out.size() > first.size() + 50);
  CHECK(contains(long_answer.err, "the answer is cut off where the model's context ends"));

  // What the context has no room for isn't said, and the conversation goes on.
  const ProcessResult full = chat(std::string(400, 'x') + "\\nFirst\\n/nothing\\n", "plain.jinja");
  CHECK(full.exit_code == 0);
  CHECK(full.out == first + "\n");
  CHECK(full.err.starts_with("not said: the conversation would have "));
  CHECK(full.err.find("there is no command \"/nothing\"") != std::string::npos);

  // Templates that are missing, broken, or that refuse are one line each.
  check_refusal(chat("a", ""), 2, {"[CHAT-17]", "chat_template.jinja"});
  check_refusal(chat("a", "nowhere.jinja"), 2, {"[CHAT-01]", "nowhere.jinja"});
  write_bytes(place / "broken.jinja", "{% if");
  check_refusal(chat("a", "broken.jinja"), 2, {"[JINJA-01]", "broken.jinja", "line 1"});
  write_bytes(place / "refusing.jinja", "{{ raise_exception('no users here') }}");
  check_refusal(chat("a", "refusing.jinja"), 1, {"[JINJA-04]", "no users here"});
}

TEST_CASE("at a terminal Ctrl-C ends the answer that is being given, and behind the prompt the program") {
  const Workplace place("tasks_model");  // whose context is long, and so is its answer
  const ProcessResult trained = place.train("run", {"data.evaluation=", "run.steps=1", "schedule.warmup_steps=0"});
  INFO(trained.err);
  REQUIRE(trained.exit_code == 0);
  write_bytes(place / "plain.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}");
  const ProcessResult talk = run_process(
      with(Arguments{"python3", std::string(MONOMORPH_SOURCE_DIR) + "/tests/end_to_end/chat_at_terminal.py"},
           command(place, {"chat", "--checkpoint", place / "run", "--greedy", "--ignore-end", "--template",
                           place / "plain.jinja"})));
  INFO(talk.out << talk.err);
  CHECK(talk.exit_code == 0);
}

TEST_CASE("chat writes conversations by a template of a name, of a file or of a folder, or by the one that fits") {
  const Workplace place("tiny_llama");
  const auto made = [](const ProcessResult& result) {
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  const std::string tokenizer = place / "tokenizer.json";
  made(run_program("monomorph-data",
                   {"train-tokenizer", place / "train.txt", "--vocab-size", "512", "--special", "<|endoftext|>",
                    "--special", "<|im_start|>", "--special", "<|im_end|>", "--output", tokenizer, "--force"}));
  made(run_program("monomorph-data",
                   {"pack", place / "train.txt", "--tokenizer", tokenizer, "--output", place / "words.pbin"}));
  made(place.train("run", {"data.train=" + (place / "words.pbin"), "data.evaluation="}));
  std::filesystem::create_directory(place / "model");
  write_bytes(place / "model/chat_template.jinja",
              "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
              "{{ '<|im_start|>assistant\n' if add_generation_prompt }}");
  const auto chat = [&](const Arguments& more) {
    const Arguments arguments{"chat", "--checkpoint", place / "run", "--greedy", "--max-tokens", "4"};
    return run_process(bash("printf 'So\n' | \"$@\"", command(place, with(arguments, more))));
  };
  const std::string prompt = "<|im_start|>user\nSo<|im_end|>\n<|im_start|>assistant\n";
  const std::string text =
      made(place.run({"generate", "--checkpoint", place / "run", "--greedy", "--max-tokens", "4", "--prompt", prompt}));
  const std::string answer = text.substr(prompt.size());
  for (const Arguments& chosen :
       {Arguments{}, {"--template", "chatml"}, {"--chat-template", place / "model/chat_template.jinja"}}) {
    CAPTURE(chosen);
    CHECK(made(chat(chosen)) == answer);
  }
  check_refusal(chat({"--template", "chat-ml"}), 2, {"[CHAT-01]", "\"chat-ml\"", "chatml, llama-3", "(--template)"});
  check_refusal(chat({"--template", "llama-3"}), 2, {"[CHAT-02]", "<|eot_id|>", "(--template)"});
  check_refusal(chat({"--template", place / "run"}), 2, {"[CHAT-17]", "chat_template.jinja"});
  write_bytes(place / "tools.json", R"([{"type": "function", "function": {"name": "f"}}])");
  check_refusal(chat({"--template", "chatml", "--tools", place / "tools.json"}), 2, {"[CHAT-19]", "--template"});
  // A template that is broken or never ends is one line where chats are written, and none where they are not.
  for (const auto& [source, id] :
       {std::pair{"{% if", "[JINJA-01]"},
        {"{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}", "[JINJA-03]"}}) {
    write_bytes(place / "run/chat_template.jinja", source);
    check_refusal(chat({}), id == std::string("[JINJA-01]") ? 2 : 1, {id});
    CHECK(made(place.run({"generate", "--checkpoint", place / "run", "--greedy", "--max-tokens", "4", "--prompt",
                          prompt})) == text);
  }
}

TEST_CASE(
    "a run on chats that were packed by a template's name has it in its folder, in Jinja, and so has its export") {
  const Workplace place("tiny_llama");
  const auto made = [](const ProcessResult& result) {
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  };
  std::filesystem::create_directory(place / "words");
  const std::string tokenizer = place / "words/tokenizer.json";
  made(run_program("monomorph-data",
                   {"train-tokenizer", place / "train.txt", "--vocab-size", "512", "--special", "<|endoftext|>",
                    "--special", "<|im_start|>", "--special", "<|im_end|>", "--output", tokenizer}));
  std::string chats;
  for (int i = 0; i < 100; ++i)
    chats += R"({"messages": [{"role": "user", "content": "So?"}, {"role": "assistant", "content": "No."}]})"
             "\n";
  write_bytes(place / "chats.jsonl", chats);
  made(run_program("monomorph-data", {"chat", place / "chats.jsonl", "--tokenizer", tokenizer, "--template", "chatml",
                                      "--sequence-length", "32", "--output", place / "chats.pbin"}));
  const std::vector<std::string> sets{"data.train=" + (place / "chats.pbin"), "data.evaluation=", "run.steps=3",
                                      "data.tokenizer=" + tokenizer};
  made(place.train("run", sets));
  const auto chat = [&](const std::string& run, const Arguments& more) {
    const Arguments arguments{"chat", "--checkpoint", place / run, "--greedy", "--max-tokens", "4"};
    const ProcessResult result = run_process(bash("printf 'So\n' | \"$@\"", command(place, with(arguments, more))));
    CHECK(result.err == "");
    return made(result);
  };
  CHECK(chat("run", {}) == chat("run", {"--template", "chatml"}));
  CHECK(chat("run", {"--template", place / "run"}) == chat("run", {}));
  made(place.run({"export", "--checkpoint", place / "run", "--output", place / "model"}));
  const std::string written = read_bytes(place / "model/chat_template.jinja");
  CHECK(contains(written, "<|im_start|>"));
  made(place.run({"import", place / "model", "--output", place / "imported"}));
  CHECK(read_bytes(place / "imported/chat_template.jinja") == written);
  made(place.run({"export", "--checkpoint", place / "run", "--gguf", place / "model.gguf"}));
  CHECK(contains(read_bytes(place / "model.gguf"), written));

  // One beside the tokeniser stays, and that it is another is said.
  write_bytes(place / "words/chat_template.jinja", "{{ messages[0].content }}");
  const std::string said = made(place.train("other", sets));
  CHECK(contains(said, "the data was packed by the template chatml, and beside "));
  CHECK(read_bytes(place / "other/chat_template.jinja") == "{{ messages[0].content }}");
  write_bytes(place / "words/chat_template.jinja", written);
  CHECK_FALSE(contains(made(place.train("same", sets)), "was packed by"));
  CHECK(read_bytes(place / "same/chat_template.jinja") == written);
}
