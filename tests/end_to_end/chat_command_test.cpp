// Talking with a model: standard input is what is said, and a chat template puts it together.
#include "programs.hpp"
#include "support/catch.hpp"

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

  // What the context has no room for isn't said, and the conversation goes on.
  const ProcessResult full = chat(std::string(400, 'x') + "\\nFirst\\n/nothing\\n", "plain.jinja");
  CHECK(full.exit_code == 0);
  CHECK(full.out == first + "\n");
  CHECK(full.err.starts_with("not said: the conversation would have "));
  CHECK(full.err.find("there is no command \"/nothing\"") != std::string::npos);

  // Templates that are missing, broken, or that refuse are one line each.
  check_refusal(chat("a", ""), 2, {"[CHAT-17]", "chat_template.jinja"});
  check_refusal(chat("a", "nowhere.jinja"), 2, {"[FILE-01]", "nowhere.jinja"});
  write_bytes(place / "broken.jinja", "{% if");
  check_refusal(chat("a", "broken.jinja"), 2, {"[JINJA-01]", "broken.jinja", "line 1"});
  write_bytes(place / "refusing.jinja", "{{ raise_exception('no users here') }}");
  check_refusal(chat("a", "refusing.jinja"), 1, {"[JINJA-04]", "no users here"});
}
