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

/// What the program says behind its last space: its URL.
std::string url_of(Process& server) {
  INFO(server.out());
  REQUIRE(server.wait_for_output("/v1\n"));
  std::string said = server.out();
  said.pop_back();
  return said.substr(said.rfind(' ') + 1);
}

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

  Process server(place.serving({"--port", "0", "--api-key-file", place / "key", "--max-requests", "8", "--max-body",
                                "100000", "--max-connections", "8", "--head-timeout", "1", "--body-timeout", "1"}));
  const std::string url = url_of(server);
  const ProcessResult clients =
      run_process(bash("PYTHONPATH=\"$1/.deps/test-python:$PYTHONPATH\" exec python3 "
                       "\"$1/tests/end_to_end/serve/clients.py\" \"$2\" \"$3\"",
                       {std::string(MONOMORPH_SOURCE_DIR), url, text}));
  INFO(clients.out << clients.err);
  CHECK(clients.exit_code == 0);

  check_refusal(run_process(place.serving({"--port", port_of(url)})), 2, {"[SERVE-02]", port_of(url), "in use"});
  check_refusal(run_process(place.serving({"--host", "no.such.host.invalid"})), 2, {"[SERVE-02]", "no.such.host"});
  check_refusal(run_process(place.serving({"--chat-template", "unheard-of"})), 2, {"[CHAT-01]", "unheard-of"});
  check_refusal(run_process(place.serving({"--port", "65536"})), 2, {"[RUN-13]", "--port"});

  server.signal(SIGTERM);
  const ProcessResult result = server.wait(std::chrono::seconds(20));
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.err, " POST /v1/completions 200 "));
  CHECK(contains(result.err, " GET /v1/nothing 404 "));
}
