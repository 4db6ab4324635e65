#include "train/commands/serve_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/text_model.hpp"
#include "train/serve/api.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>

#include <cstdio>
#include <thread>

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;

/// Tokens of a prompt whose logits are made in one pass, where they are asked for.
constexpr std::int64_t scored_tokens_of_pass = 128;

/// The library that reads requests takes a % in a header for the beginning of a byte in hexadecimal.
std::string key_of(const std::string& file) {
  if (file.empty()) return "";
  std::string key = as_usage_error("--api-key-file", [&] { return read_text_file(file, 4096); });
  key.erase(key.find_last_not_of(" \r\n") + 1);
  if (key.empty() || key.find_first_of(" \r\n%") != std::string::npos)
    throw UsageError("SERVE-03",
                     fmt::format("--api-key-file must be a file of one line, the key, without % ({})", file));
  return key;
}

/// One write for each line, so that those of several threads stay apart.
void log_line(const std::string& line) { std::fputs((line + "\n").c_str(), stderr); }

/// Without its namespace.
std::string short_name(const RecipeProgram& recipe) { return recipe.name.substr(recipe.name.rfind(':') + 1); }

/// As a URL has it.
std::string in_url(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

/// Until a signal comes; then what runs may go on for a while.
void serve_until_signal(Scheduler& scheduler, HttpServer& server, std::chrono::seconds grace) {
  scheduler.run([&] { return interrupting_signal() != 0 || !server.listening(); });
  if (interrupting_signal() == 0)
    throw Error("SERVE-04", "the system no longer lets this program take connections; start it again");
  server.stop_listening();
  const Clock::time_point until = Clock::now() + grace;
  scheduler.run([&] { return server.connections() == 0 || Clock::now() >= until; });
}

/// Ends what runs still, and what arrives meanwhile. Clients have a moment to take what they are told of it.
void end_all(Scheduler& scheduler, const HttpServer& server) {
  const Clock::time_point until = Clock::now() + std::chrono::seconds(2);
  scheduler.fail_all("the server ends");
  while (server.answering() > 0 && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    scheduler.fail_all("the server ends");
  }
}

HttpLimits http_limits(const ServeOptions& options) {
  HttpLimits limits = options.limits;
  limits.body_bytes = static_cast<std::size_t>(options.body_bytes);
  limits.head = std::chrono::seconds(options.head_seconds);
  limits.body = std::chrono::seconds(options.body_seconds);
  limits.request = std::chrono::seconds(options.request_seconds);
  limits.stalled_write = std::chrono::seconds(options.write_seconds);
  return limits;
}

/// Over HTTP, until a signal ends it.
void serve(const ServedModel& served, Session& session, const ServeOptions& options, const std::string& key) {
  const HttpLimits limits = http_limits(options);
  Scheduler scheduler(session, served.tokenizer, options.most_waiting);
  const Api api(served, scheduler, key, limits.request, LoopbackHosts::of(options.host));
  const InterruptionGuard guard;
  HttpServer server(limits, {.admit = [&](const HttpRequest& request) { return api.admit(request); },
                             .answer = [&](const HttpRequest& request) { return api.answer(request); },
                             .log =
                                 [&](const std::string& line) {
                                   if (!options.quiet) log_line(line);
                                 }});
  const int port = server.listen(options.host, options.port);
  show(fmt::format("serving {} at http://{}:{}/v1\n", served.name, in_url(options.host), port));
  try {
    serve_until_signal(scheduler, server, std::chrono::seconds(options.stop_seconds));
  } catch (...) {  // clients are told, too, when a pass of the model fails
    server.stop_listening();
    end_all(scheduler, server);
    throw;
  }
  end_all(scheduler, server);
}

}  // namespace

void ServeOptions::add_to(CLI::App& app) {
  CheckpointOptions::add_to(app);
  app.add_option("--host", host, "address to listen on; 0.0.0.0 for all of this machine's")->capture_default_str();
  add_number(app, "--port", port, "to listen on; 0 for any that is free", {0, 65535})->capture_default_str();
  app.add_option("--model-name", model_name, "by which requests name the model; the recipe's if it is not given");
  chat_template.add_to(app);
  app.add_option("--api-key-file", api_key_file, "a file with a key that requests must bring");
  add_number(app, "--batch", batch, "texts that grow at a time", {1, 1024})->capture_default_str();
  add_number(app, "--cache-tokens", cache_tokens, "that the texts at a time have together, with their prompts",
             {.least = 1, .most = std::int64_t{1} << 40});
  add_number(app, "--max-requests", most_waiting, "texts that wait; requests beyond are refused", {1, 1 << 20})
      ->capture_default_str();
  add_number(app, "--max-connections", limits.connections, "at a time", {1, 900})->capture_default_str();
  add_number(app, "--max-body", body_bytes, "bytes of a request", {1024, 1 << 30})->capture_default_str();
  add_number(app, "--request-timeout", request_seconds, "seconds that a request may take", {1, 1 << 20})
      ->capture_default_str();
  add_number(app, "--head-timeout", head_seconds, "seconds for the head of a request to arrive", {1, 3600})
      ->capture_default_str();
  add_number(app, "--body-timeout", body_seconds, "seconds for its body", {1, 3600})->capture_default_str();
  add_number(app, "--write-timeout", write_seconds, "seconds in which a client must take some of its answer", {1, 3600})
      ->capture_default_str();
  add_number(app, "--stop-timeout", stop_seconds, "seconds for what runs when a signal ends the server", {0, 1 << 20})
      ->capture_default_str();
  app.add_flag("--quiet", quiet, "no line for each request on standard error");
}

int run_serve(const RecipeProgram& recipe, const ServeOptions& options) {
  check_predicts_next_token(recipe);
  const std::string key = key_of(options.api_key_file);
  TextModel model = load_text_model(recipe, options, &options.chat_template);
  ChatPrompt prompt =
      as_usage_error("--template", [&] { return ChatPrompt(*model.tokenizer, model.chat_template, model.left_out); });
  write_notes(model, "requests may say it otherwise");
  const std::int64_t T = recipe.model->context_length;
  const SessionRequest request = request_for_texts(options.cache_tokens, options.batch, T, T, scored_tokens_of_pass);
  with_session(*model.weights, request, [&](Session& session) {
    const ServedModel served{.name = options.model_name.empty() ? short_name(recipe) : options.model_name,
                             .tokenizer = *model.tokenizer,
                             .settings = model.settings,
                             .context_length = T,
                             .chat_prompt = std::move(prompt),
                             .cache_tokens = session.pages() * PagedTokens::page};
    serve(served, session, options, key);
  });
  return 0;
}

}  // namespace monomorph::train
