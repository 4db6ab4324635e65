// The HTTP server: what clients ask of it, and what hostile ones try, by a script with the openai package.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/free_port.hpp"

#include <sys/socket.h>

#include <netinet/in.h>
#include <unistd.h>

#include <csignal>

using namespace monomorph::testing;

namespace {

void succeed(const ProcessResult& result) {
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
}

/// A trained model with a chat template, whose tokens its tokeniser has.
class Served : public Workplace {
 public:
  Served() : Workplace("tiny_llama") {
    succeed(run_program("monomorph-data", {"train-tokenizer", *this / "train.txt", "--vocab-size", "512", "--special",
                                           "<|endoftext|>", "--special", "<|im_start|>", "--special", "<|im_end|>",
                                           "--output", *this / "tokenizer.json", "--force"}));
    for (const std::string part : {"train", "held_out"})
      succeed(run_program("monomorph-data", {"pack", *this / (part + ".txt"), "--tokenizer", *this / "tokenizer.json",
                                             "--output", *this / ("chat_" + part + ".pbin")}));
    succeed(train("run",
                  {"data.train=" + (*this / "chat_train.pbin"), "data.evaluation=" + (*this / "chat_held_out.pbin")}));
    write_bytes(
        *this / "run/chat_template.jinja",
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
        "{{ raise_exception('say less') if messages[-1].content == 'too much' else '<|im_start|>assistant\n' }}");
  }
  Arguments serving(const Arguments& more) const {
    return with(command(*this, {"serve", "--checkpoint", *this / "run"}), more);
  }
};

std::string port_of(const std::string& url) {
  const std::size_t colon = url.rfind(':');
  return url.substr(colon + 1, url.find('/', colon) - colon - 1);
}

}  // namespace

TEST_CASE("serve answers as OpenAI's API does, bounds what clients send, and ends by a signal") {
  const Served place;
  write_bytes(place / "key", "a key\n");
  check_refusal(run_process(place.serving({"--api-key-file", place / "key"})), 2, {"[SERVE-03]", "one line"});
  write_bytes(place / "key", "a_key\n");
  const ProcessResult greedy =
      place.run({"generate", "--checkpoint", place / "run", "--prompt", "First", "--greedy", "--max-tokens", "12"});
  succeed(greedy);
  const std::string text = greedy.out.substr(5, greedy.out.size() - 6);

  Process server(
      place.serving({"--port", "0", "--api-key-file", place / "key", "--max-requests", "8", "--max-body", "100000",
                     "--max-connections", "8", "--head-timeout", "1", "--body-timeout", "1", "--write-timeout", "1"}));
  const std::string url = url_of(server);
  const ProcessResult clients =
      run_process(bash("PYTHONPATH=\"$1/.deps/test-python:$PYTHONPATH\" exec python3 "
                       "\"$1/tests/end_to_end/serve/clients.py\" \"$2\" \"$3\"",
                       {std::string(MONOMORPH_SOURCE_DIR), url, text}));
  INFO(clients.out << clients.err);
  CHECK(clients.exit_code == 0);

  check_refusal(run_process(place.serving({"--port", port_of(url)})), 2, {"[SERVE-02]", port_of(url), "in use"});
  check_refusal(run_process(place.serving({"--host", "no.such.host.invalid"})), 2, {"[SERVE-02]", "no.such.host"});
  for (const std::string option : {"--template", "--chat-template"})
    check_refusal(run_process(place.serving({option, "unheard-of"})), 2, {"[CHAT-01]", "unheard-of", "(--template)"});
  check_refusal(run_process(place.serving({"--port", "65536"})), 2, {"[RUN-13]", "--port"});

  server.signal(SIGTERM);
  const ProcessResult result = server.wait(std::chrono::seconds(20));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, " POST /v1/completions 200 "));
  CHECK(contains(result.err, " GET /v1/nothing 404 "));

  // Those whose answers are not ready are told that the server ends.
  Process ending(place.serving({"--port", "0", "--batch", "1", "--max-requests", "1000", "--stop-timeout", "0"}));
  Process told(bash("exec python3 \"$@\"",
                    {std::string(MONOMORPH_SOURCE_DIR) + "/tests/end_to_end/serve/ending.py", url_of(ending)}));
  CHECK(told.wait_for_output("asked"));
  ending.signal(SIGTERM);
  const ProcessResult heard = told.wait(std::chrono::seconds(20));
  INFO(heard.out << heard.err);
  CHECK(heard.exit_code == 0);
  CHECK(ending.wait(std::chrono::seconds(20)).exit_code == 0);
}

TEST_CASE("serve tells calls of tools as the openai package has them, and chat asks for what they give") {
  const Workplace place("tiny_llama");
  std::string lines;
  for (int i = 0; i < 2000; ++i)
    lines += R"({"text": "ask <tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"})"
             "\n";
  write_bytes(place / "calls.jsonl", lines);
  succeed(run_program("monomorph-data", {"train-tokenizer", place / "calls.jsonl", "--vocab-size", "300", "--special",
                                         "<|endoftext|>", "--output", place / "tokenizer.json", "--force"}));
  succeed(run_program("monomorph-data", {"pack", place / "calls.jsonl", "--tokenizer", place / "tokenizer.json",
                                         "--output", place / "calls.pbin"}));
  succeed(place.train("run", {"data.train=" + (place / "calls.pbin"), "data.evaluation=" + (place / "calls.pbin"),
                              "run.steps=120", "optimizer.lr=0.01"}));
  write_bytes(
      place / "tools.jinja",
      "{{ tools[0].function.name + '<|endoftext|>' if tools }}{% for m in messages %}{{ '<|endoftext|>' * (1 + "
      "m.tool_calls[0].function.arguments|length) if m.tool_calls else 'ask' if m.content in ['', '/help'] else "
      "m.content }}{% endfor %}");
  write_bytes(place / "tools.json", R"([{"type": "function", "function": {"name": "f"}}])");
  const auto chat = [&](const std::string& input, const std::string& tools) {
    return run_process(bash("printf '" + input + "' | \"$@\"",
                            command(place, {"chat", "--checkpoint", place / "run", "--greedy", "--max-tokens", "24",
                                            "--template", place / "tools.jinja", "--tools", place / tools})));
  };
  // The first line is the user's, the second the tool's.
  const ProcessResult said = chat("ask\\nask\\n", "tools.json");
  const std::string call = R"( <tool_call>{"name": "f", "arguments": {}}</tool_call>)",
                    asks = "the model calls f with {}; the next line is what it gives, unless it is /reset or /exit\n";
  CHECK(said.out == call + "\n" + call + "\n");
  CHECK(said.err == asks + asks);
  // What a tool gives may be empty, or what is a command elsewhere; but these two are commands.
  const ProcessResult given = chat("ask\\n\\n/help\\n/reset\\n/help\\nask\\n/exit\\nask\\n", "tools.json");
  CHECK(given.out == call + "\n" + call + "\n" + call + "\n" + call + "\n");
  CHECK(given.err.starts_with(asks + asks + asks + "/reset begins a new conversation"));
  CHECK(given.err.ends_with("is said to the model\n" + asks));
  write_bytes(place / "broken.json", R"([{"type": "function", "function": {}}])");
  check_refusal(chat("ask", "broken.json"), 2, {"[CHAT-19]", "broken.json", "\"name\""});
  check_refusal(chat("ask", "nowhere.json"), 2, {"[FILE-01]", "nowhere.json", "--tools"});
  write_bytes(place / "broken.json", "[");
  check_refusal(chat("ask", "broken.json"), 2, {"[JINJA-05]", "broken.json"});

  Process server(command(place, {"serve", "--checkpoint", place / "run", "--port", "0", "--chat-template",
                                 place / "tools.jinja"}));
  const ProcessResult clients =
      run_process(bash("PYTHONPATH=\"$1/.deps/test-python:$PYTHONPATH\" exec python3 "
                       "\"$1/tests/end_to_end/serve/tools.py\" \"$2\"",
                       {std::string(MONOMORPH_SOURCE_DIR), url_of(server)}));
  INFO(clients.out << clients.err);
  CHECK(clients.exit_code == 0);
  server.signal(SIGTERM);
  CHECK(server.wait(std::chrono::seconds(20)).exit_code == 0);
}

TEST_CASE("serve writes JSON and calls of tools as requests ask for them, whatever the model has learned") {
  const Workplace place("quickstart");
  Arguments arguments{"--hparams", std::string(MONOMORPH_SOURCE_DIR) + "/recipes/quickstart.json"};
  for (const std::string& set :
       {"run.output_dir=" + (place / "run"), "data.train=" + (place / "train.pbin"),
        "data.evaluation=" + (place / "train.pbin"), "data.tokenizer=" + (place / "tokenizer.json"),
        std::string("run.steps=1"), std::string("schedule.warmup_steps=0"), std::string("evaluation.at_end=false")})
    arguments.insert(arguments.end(), {"--set", set});
  succeed(place.run(arguments));
  write_bytes(place / "tools.jinja",
              "{% for t in tools or [] %}{{ t.function.name }}{% endfor %}{% for m in messages %}{{ m.content }}"
              "{% for c in m.tool_calls or [] %}<tool_call>{\"name\": {{ c.function.name | tojson }}, \"arguments\": "
              "{{ c.function.arguments | tojson }}}</tool_call>{% endfor %}{% endfor %}");
  Process server(command(place, {"serve", "--checkpoint", place / "run", "--port", "0", "--batch", "16",
                                 "--chat-template", place / "tools.jinja"}));
  const ProcessResult clients =
      run_process(bash("PYTHONPATH=\"$1/.deps/test-python:$PYTHONPATH\" exec python3 "
                       "\"$1/tests/end_to_end/serve/constraints.py\" \"$2\" \"$3\"",
                       {std::string(MONOMORPH_SOURCE_DIR), url_of(server), place / "tokenizer.json"}));
  INFO(clients.out << clients.err);
  CHECK(clients.exit_code == 0);
  server.signal(SIGTERM);
  CHECK(server.wait(std::chrono::seconds(20)).exit_code == 0);
}
