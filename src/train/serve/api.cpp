#include "train/serve/api.hpp"

#include "train/serve/api_error.hpp"
#include "train/serve/completion_answer.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_questions{100};

/// Takes as long whatever the texts have in common.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
  unsigned different = a.size() != b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return different == 0;
}

std::string event_of(std::string_view json) { return fmt::format("data: {}\n\n", json); }

/// Gives a request's events one by one. However soon they come, it is asked now and then whether the request takes too
/// long, as a client that takes its stream slowly must not hold its place for ever, and whether the client is gone.
class EventReader {
 public:
  EventReader(std::function<bool()> client_is_gone, TextEvents& events, Clock::time_point until)
      : client_is_gone_(std::move(client_is_gone)), events_(events), until_(until) {}

  /// @throws ApiError 503: the model failed, or the request takes too long; 499: the client is gone
  TextEvent next() {
    for (;;) {
      const Clock::time_point now = Clock::now();
      if (now >= until_) throw ApiError(503, "the request takes longer than this server allows", "", "timeout");
      if (now >= next_question_) {
        if (client_is_gone_()) throw ApiError(499, "the client has closed the connection");
        next_question_ = now + between_questions;
      }
      if (auto event = events_.next(std::min(until_, next_question_))) {
        if (!event->failure.empty()) throw ApiError(503, event->failure);
        return std::move(*event);
      }
    }
  }

 private:
  std::function<bool()> client_is_gone_;
  TextEvents& events_;
  Clock::time_point until_, next_question_ = Clock::now() + between_questions;
};

/// However a request ends, nobody waits for its texts then. That is when the last copy goes.
std::shared_ptr<TextEvents> abandoned_at_end(std::shared_ptr<TextEvents> events) {
  TextEvents* const same = events.get();
  return {same, [owner = std::move(events)](TextEvents*) { owner->abandon(); }};
}

}  // namespace

HttpReply Api::admit(const HttpRequest& request) const {
  check_host(request);
  const bool is_get = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/health" && is_get) return {.body = R"({"status":"ok"})"};
  check_key(request);
  const std::string model_path = "/v1/models/" + model_.name;
  const bool is_read = request.path == "/v1/models" || request.path == model_path || request.path == "/health";
  const bool is_written = request.path == "/v1/completions" || request.path == "/v1/chat/completions";
  if (!is_read && !is_written) throw ApiError(404, "there is nothing at this path", "", "not_found");
  if (is_read != is_get || (is_written && request.method != "POST"))
    throw ApiError(405, fmt::format("this path is for {}", is_read ? "GET" : "POST"), "", "method_not_allowed");
  if (request.path == "/v1/models") return {.body = fmt::format(R"({{"object":"list","data":[{}]}})", models())};
  return is_read ? HttpReply{.body = models()} : HttpReply{};
}

std::string Api::models() const {
  return nlohmann::ordered_json{{"id", model_.name},
                                {"object", "model"},
                                {"created", 0},
                                {"owned_by", "monomorph"},
                                {"max_model_len", model_.context_length}}
      .dump();
}

/// A program that names no host is no browser.
void Api::check_host(const HttpRequest& request) const {
  if (!hosts_ || !key_.empty()) return;
  if (std::ranges::all_of(request.hosts, [&](const std::string& host) { return hosts_->have(host); })) return;
  throw ApiError(
      403,
      "this server is for programs of its own machine and asks for no key, so it answers only requests whose "
      "header Host is localhost, 127.0.0.1, [::1] or what --host names; ask by one of these, or start the "
      "server with --api-key-file",
      "", "host_not_allowed");
}

void Api::check_key(const HttpRequest& request) const {
  if (key_.empty() || equal_in_constant_time(request.authorization, "Bearer " + key_)) return;
  throw ApiError(401, "this server asks for an API key, as the header Authorization: Bearer KEY", "",
                 "invalid_api_key");
}

HttpReply Api::answer(const HttpRequest& http) const {
  const Clock::time_point until = Clock::now() + longest_;
  auto request = std::make_shared<const CompletionRequest>(
      http.path == "/v1/completions" ? read_completion(http.body, model_) : read_chat_completion(http.body, model_));
  const auto events = abandoned_at_end(submit(*request));
  if (!request->stream) return {.body = whole(http, *request, *events, until)};
  return {.stream = [this, request, events, until](const EventStream& client) {
    stream(*request, *events, until, client);
  }};
}

std::shared_ptr<TextEvents> Api::submit(const CompletionRequest& request) const {
  auto events = std::make_shared<TextEvents>();
  std::vector<ServedText> texts;
  for (const ServedPrompt& prompt : request.prompts)
    for (std::int64_t sample = 0; sample < request.samples; ++sample)
      texts.push_back({.index = texts.size(),
                       .request = {prompt.ids,
                                   {static_cast<std::uint32_t>(&prompt - request.prompts.data()),
                                    static_cast<std::uint32_t>(sample)}},
                       .settings = request.settings,
                       .log_probabilities = request.log_probabilities,
                       .scores_prompt = request.echo && request.log_probabilities,
                       .events = events});
  if (std::ssize(texts) > scheduler_.most_waiting())
    throw ApiError(400,
                   fmt::format("the request asks for {} texts, and this server lets {} wait", texts.size(),
                               scheduler_.most_waiting()),
                   request.samples > 1 ? "n" : "prompt");
  if (!scheduler_.submit(std::move(texts)))
    throw ApiError(429, "too many texts wait already; try again later", "", "rate_limit_exceeded");
  return events;
}

std::string Api::whole(const HttpRequest& http, const CompletionRequest& request, TextEvents& events,
                       Clock::time_point until) const {
  CompletionAnswer answer(request, model_);
  EventReader reader(http.client_is_gone, events, until);
  while (!answer.complete()) answer.add(reader.next());
  return answer.whole();
}

void Api::stream(const CompletionRequest& request, TextEvents& events, Clock::time_point until,
                 const EventStream& client) const {
  const auto show = [&](const std::string& piece) { return piece.empty() || client.write(event_of(piece)); };
  CompletionAnswer answer(request, model_);
  for (std::size_t i = 0; i < request.prompts.size() * static_cast<std::size_t>(request.samples); ++i)
    if (!show(answer.beginning(i))) return;
  try {
    EventReader reader(client.client_is_gone, events, until);
    while (!answer.complete()) {
      const TextEvent event = reader.next();
      answer.add(event);
      if (!show(answer.piece(event))) return;
    }
  } catch (const ApiError& error) {  // the status is on its way already
    client.write(event_of(error.json()));
    return;
  }
  if (request.include_usage && !show(answer.usage_piece())) return;
  client.write(event_of("[DONE]"));
}

}  // namespace monomorph::train
