#include "train/serve/completion_answer.hpp"

#include "train/serve/tool_call_id.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A name that no other answer has.
std::string new_id(std::string_view kind) {
  std::random_device device;
  return fmt::format("{}{:08x}{:08x}{:08x}", kind, device(), device(), device());
}

std::int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string bytes_of(const data::Tokenizer& tokenizer, std::int32_t id) {
  if (!tokenizer.has_token(id)) return "";
  return tokenizer.is_special(id) ? tokenizer.token_of(id) : tokenizer.bytes_of(id);
}

/// Bytes that are no text by themselves are written as the API writes them.
std::string name_of(const std::string& bytes) {
  if (data::valid_utf8_prefix(bytes) == bytes.size()) return bytes;
  std::string name = "bytes:";
  for (const char byte : bytes) name += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
  return name;
}

std::int64_t characters_of(const std::string& bytes) {
  return std::ranges::count_if(bytes, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; });
}

}  // namespace

CompletionAnswer::CompletionAnswer(const CompletionRequest& request, const ServedModel& model)
    : request_(request),
      model_(model),
      id_(new_id(request.chat ? "chatcmpl-" : "cmpl-")),
      created_(seconds_now()),
      texts_(request.prompts.size() * static_cast<std::size_t>(request.samples)) {
  for (Text& text : texts_)
    if (!request.tools.empty()) text.calls.emplace(request.tools);
  if (!request.echo) return;
  for (std::size_t i = 0; i < texts_.size(); ++i) texts_[i].shown = prompt_of(i).text;
}

void CompletionAnswer::add(const TextEvent& event) {
  Text& text = texts_[event.text];
  drawn_ += event.drawn;
  if (!request_.stream) {
    text.shown += event.more;
    text.scored.insert(text.scored.end(), event.scored.begin(), event.scored.end());
  }
  if (!event.finish) return;
  text.finish = *event.finish;
  ++finished_;
}

std::int64_t CompletionAnswer::prompt_tokens() const {
  std::int64_t sum = 0;
  for (const ServedPrompt& prompt : request_.prompts) sum += std::ssize(prompt.ids);
  return sum;
}

ordered_json CompletionAnswer::head(const char* object) const {
  return {{"id", id_}, {"object", object}, {"created", created_}, {"model", model_.name}};
}

ordered_json CompletionAnswer::usage() const {
  return {{"prompt_tokens", prompt_tokens()},
          {"completion_tokens", drawn_},
          {"total_tokens", prompt_tokens() + drawn_}};
}

std::string CompletionAnswer::whole() {
  ordered_json answer = head(request_.chat ? "chat.completion" : "text_completion");
  answer["choices"] = ordered_json::array();
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    Text& text = texts_[i];
    ordered_json choice{{"index", i}};
    if (request_.chat)
      choice["message"] = message_of(text);
    else
      choice["text"] = text.shown;
    Place next;
    choice["logprobs"] = scores(i, text.scored, next);
    choice["finish_reason"] = reason_of(text);
    answer["choices"].push_back(std::move(choice));
  }
  answer["usage"] = usage();
  return text_of(answer);
}

std::string CompletionAnswer::beginning(std::size_t text) {
  if (request_.chat)
    return streamed({{"index", text},
                     {"delta", {{"role", "assistant"}, {"content", ""}}},
                     {"logprobs", nullptr},
                     {"finish_reason", nullptr}});
  if (!request_.echo) return "";
  return streamed({{"index", text}, {"text", prompt_of(text).text}, {"logprobs", nullptr}, {"finish_reason", nullptr}});
}

std::string CompletionAnswer::piece(const TextEvent& event) {
  Text& text = texts_[event.text];
  ordered_json choice{{"index", event.text}};
  if (request_.chat)
    choice["delta"] = delta_of(text, event);
  else
    choice["text"] = event.more;
  const bool shows = request_.chat ? !choice["delta"].empty() : !event.more.empty();
  if (!shows && event.scored.empty() && !event.finish) return "";
  choice["logprobs"] = event.scored.empty() ? ordered_json(nullptr) : scores(event.text, event.scored, text.next);
  choice["finish_reason"] = event.finish ? ordered_json(reason_of(text)) : ordered_json(nullptr);
  return streamed(std::move(choice));
}

ordered_json CompletionAnswer::message_of(Text& text) const {
  ordered_json message{{"role", "assistant"}, {"content", text.shown}, {"refusal", nullptr}};
  if (!text.calls) return message;
  ToolCallFinder::Found found = text.calls->push(text.shown);
  found += text.calls->finish();
  message["content"] = found.text.empty() && !found.calls.empty() ? ordered_json(nullptr) : ordered_json(found.text);
  if (!found.calls.empty()) message["tool_calls"] = told(text, found.calls);
  return message;
}

ordered_json CompletionAnswer::delta_of(Text& text, const TextEvent& event) const {
  ToolCallFinder::Found found{event.more, {}};
  if (text.calls) {
    found = text.calls->push(event.more);
    if (event.finish) found += text.calls->finish();
  }
  ordered_json delta = ordered_json::object();
  if (!found.text.empty()) delta["content"] = found.text;
  if (ordered_json calls = told(text, found.calls); !calls.empty()) delta["tool_calls"] = std::move(calls);
  return delta;
}

ordered_json CompletionAnswer::told(Text& text, const std::vector<ToolCall>& calls) const {
  ordered_json list = ordered_json::array();
  for (const ToolCall& call : calls) {
    if (request_.one_call && text.told_calls == 1) break;
    ordered_json one = ordered_json::object();
    if (request_.stream) one["index"] = text.told_calls;
    one["id"] = new_tool_call_id();
    one["type"] = "function";
    one["function"] = {{"name", call.name}, {"arguments", call.arguments}};
    list.push_back(std::move(one));
    ++text.told_calls;
  }
  return list;
}

std::string_view CompletionAnswer::reason_of(const Text& text) const {
  const bool calls = text.told_calls > 0 && !request_.named_call;
  return calls && text.finish == FinishReason::stop ? "tool_calls" : train::name_of(text.finish);
}

std::string CompletionAnswer::streamed(ordered_json choice) const {
  ordered_json piece = head(request_.chat ? "chat.completion.chunk" : "text_completion");
  piece["choices"] = ordered_json::array({std::move(choice)});
  if (request_.include_usage) piece["usage"] = nullptr;
  return text_of(piece);
}

std::string CompletionAnswer::usage_piece() const {
  ordered_json piece = head(request_.chat ? "chat.completion.chunk" : "text_completion");
  piece["choices"] = ordered_json::array();
  piece["usage"] = usage();
  return text_of(piece);
}

ordered_json CompletionAnswer::scores(std::size_t text, const std::vector<ScoredToken>& tokens, Place& next) const {
  if (!request_.log_probabilities) return nullptr;
  return request_.chat ? chat_scores(tokens) : completion_scores(text, tokens, next);
}

/// Whether the text has the token's characters: those of special ones only where the prompt was sent as text that names
/// them.
bool CompletionAnswer::is_shown(std::size_t text, std::size_t token, std::int32_t id) const {
  const ServedPrompt& prompt = prompt_of(text);
  const bool is_written = request_.echo && prompt.n_before_text && token < prompt.ids.size();
  return is_written ? token >= *prompt.n_before_text : !model_.tokenizer.is_special(id);
}

ordered_json CompletionAnswer::completion_scores(std::size_t text, const std::vector<ScoredToken>& tokens,
                                                 Place& next) const {
  ordered_json names = ordered_json::array(), own = names, alternatives = names, offsets = names;
  for (const ScoredToken& token : tokens) {
    const std::string bytes = bytes_of(model_.tokenizer, token.id);
    names.push_back(name_of(bytes));
    offsets.push_back(next.character);
    if (is_shown(text, next.token++, token.id)) next.character += characters_of(bytes);
    if (token.candidates.empty()) {
      own.push_back(nullptr);
      alternatives.push_back(nullptr);
      continue;
    }
    own.push_back(token.candidates.front().probability);
    ordered_json most_probable = ordered_json::object();
    for (std::size_t i = 1; i < token.candidates.size(); ++i)
      most_probable.emplace(name_of(bytes_of(model_.tokenizer, token.candidates[i].id)),
                            token.candidates[i].probability);
    most_probable.emplace(name_of(bytes), token.candidates.front().probability);  // always there, as OpenAI has it
    alternatives.push_back(std::move(most_probable));
  }
  return {{"tokens", std::move(names)},
          {"token_logprobs", std::move(own)},
          {"top_logprobs", std::move(alternatives)},
          {"text_offset", std::move(offsets)}};
}

ordered_json CompletionAnswer::chat_scores(const std::vector<ScoredToken>& tokens) const {
  const auto entry = [&](const Candidate& candidate) -> ordered_json {
    const std::string bytes = bytes_of(model_.tokenizer, candidate.id);
    ordered_json numbers = ordered_json::array();
    for (const char byte : bytes) numbers.push_back(static_cast<unsigned char>(byte));
    return {{"token", name_of(bytes)}, {"logprob", candidate.probability}, {"bytes", std::move(numbers)}};
  };
  ordered_json content = ordered_json::array();
  for (const ScoredToken& token : tokens) {
    ordered_json own = entry(token.candidates.front());
    own["top_logprobs"] = ordered_json::array();
    for (std::size_t i = 1; i < token.candidates.size(); ++i) own["top_logprobs"].push_back(entry(token.candidates[i]));
    content.push_back(std::move(own));
  }
  return {{"content", std::move(content)}, {"refusal", nullptr}};
}

}  // namespace monomorph::train
