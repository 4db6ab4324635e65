#include "train/commands/chat_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/text_model.hpp"
#include "train/inference/conversation.hpp"
#include "train/inference/tool_calls.hpp"
#include "train/serve/chat_prompt.hpp"
#include "train/serve/tool_call_id.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/terminal.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <deque>
#include <iostream>
#include <optional>
#include <set>

namespace monomorph::train {
namespace {

using data::jinja::Value;

constexpr std::string_view help =
    "/reset begins a new conversation, /exit ends the program, Ctrl-C ends an answer; every other line is said to the "
    "model";

/// @throws UsageError [CHAT-02]; [CHAT-17] nobody knows how the model's chats are written
ChatPrompt prompt_of(const TextModel& model) {
  if (!model.chat_template)
    throw UsageError("CHAT-17",
                     fmt::format("{} has no chat template: neither chat_template.jinja nor \"chat_template\" in "
                                 "tokenizer_config.json, and the tokeniser lacks the special tokens of those known "
                                 "here; name one with --template",
                                 in_quotes(model.folder)));
  return as_usage_error("--template",
                        [&] { return ChatPrompt(*model.tokenizer, model.chat_template, model.left_out); });
}

/// The tools that a model may call, and their names.
struct Tools {
  Value list;
  std::set<std::string> names;
};

/// @throws UsageError [CHAT-19] one of them is no function with a name
Tools tools_of(const std::string& file) {
  Tools tools{data::jinja::value_of_json(read_text_file(file), in_quotes(file)), {}};
  const auto refuse = [&] {
    throw UsageError("CHAT-19", fmt::format("{} must be a list of tools, each an object with a \"function\" that has a "
                                            "\"name\"",
                                            in_quotes(file)));
  };
  const auto member = [](const Value& value, std::string_view name) {
    const data::jinja::Dict* const members = value.dict();
    const Value* const found = members == nullptr ? nullptr : members->find(name);
    return found == nullptr ? Value() : *found;
  };
  if (tools.list.sequence() == nullptr || tools.list.sequence()->items.empty()) refuse();
  for (const Value& tool : tools.list.sequence()->items) {
    const Value name = member(member(tool, "function"), "name");
    if (!name.is_text() || name.text()->empty()) refuse();
    tools.names.insert(*name.text());
  }
  return tools;
}

Tools tools_of(const ChatOptions& options, const ChatPrompt& prompt) {
  if (options.tools_file.empty()) return {};
  Tools tools = as_usage_error("--tools", [&] { return tools_of(options.tools_file); });
  if (!prompt.takes_tools())
    throw UsageError("CHAT-19",
                     "the chat template has no place for tools; leave --tools out, or name one that has with "
                     "--template");
  return tools;
}

PromptMessage message(data::ChatRole role, std::string_view content) {
  return {.said = {role, data::replace_invalid_utf8(content), false}, .name = {}, .call_id = {}};
}

/// A call of a tool, and the id by which its result is told.
struct AwaitedCall : ToolCall {
  std::string id;
};

PromptMessage result_of(const AwaitedCall& call, std::string_view content) {
  PromptMessage result = message(data::ChatRole::tool, content);
  result.name = call.name;
  result.call_id = call.id;
  return result;
}

/// Of JSON, whose ends of lines stand between values.
std::string in_one_line(std::string json) {
  std::ranges::replace_if(
      json, [](char one) { return one == '\n' || one == '\r'; }, ' ');
  return json;
}

PromptMessage answer_with(std::string_view text, const std::deque<AwaitedCall>& calls) {
  std::vector<Value> list;
  for (const AwaitedCall& call : calls) {
    const auto arguments = arguments_for_template(call.arguments, "the arguments of a call");
    const Value function =
        Value::dict({{"name", std::string_view(call.name)}, {"arguments", arguments.value_or(Value())}});
    list.push_back(Value::dict({{"id", std::string_view(call.id)}, {"type", "function"}, {"function", function}}));
  }
  PromptMessage answer = message(data::ChatRole::assistant, text);
  answer.calls = Value::list(std::move(list));
  return answer;
}

/// While it lives, Ctrl-C at a terminal ends the answer that is being given, and not the program. Where the answer goes
/// elsewhere, what reads it has the signal, too, and ends.
class AnswerInterruption {
 public:
  explicit AnswerInterruption(bool at_terminal) {
    if (at_terminal) guard_.emplace();
  }
  AnswerInterruption(const AnswerInterruption&) = delete;
  /// Another signal was meant for the program. One may be noted as long as the guard lives.
  ~AnswerInterruption() {
    if (!guard_) return;
    guard_.reset();
    const int signal = interrupting_signal();
    if (signal != 0 && signal != SIGINT) std::raise(signal);
  }
  bool came() const { return guard_ && interrupting_signal() != 0; }

 private:
  std::optional<InterruptionGuard> guard_;
};

/// A conversation at the terminal: reads what the user says and shows what the model answers.
class Chat {
 public:
  Chat(Conversation& conversation, const ChatPrompt& prompt, const std::string& system, const Tools& tools,
       bool at_terminal)
      : conversation_(conversation), prompt_(prompt), system_(system), tools_(tools), at_terminal_(at_terminal) {
    reset();
  }

  void reset() {
    calls_.clear();
    messages_.clear();
    if (!system_.empty()) messages_.push_back(message(data::ChatRole::system, system_));
  }

  /// Whether the next thing that is said is what a tool gives.
  bool awaits_result() const { return !calls_.empty(); }

  /// Shows the answer to what the user says, or to what the tools give that the model has called. What there is no room
  /// for isn't said.
  void say(std::string_view words) {
    if (calls_.empty()) {
      messages_.push_back(message(data::ChatRole::user, words));
      answer();
      return;
    }
    const AwaitedCall call = std::move(calls_.front());
    calls_.pop_front();
    messages_.push_back(result_of(call, words));
    if (!calls_.empty()) return ask_for_result();
    if (!answer()) calls_.push_back(call);  // which may have a shorter result
  }

 private:
  /// @return false, and the last message is taken back, if there is no room for it
  bool answer() {
    std::vector<std::int32_t> prompt = prompt_.ids(messages_, tools_.list);
    if (conversation_.room(prompt) < 1) {
      messages_.pop_back();
      tell_full(std::ssize(prompt));
      return false;
    }
    const auto room = conversation_.room(prompt);
    const GeneratedText answer = answer_to(std::move(prompt));
    show("\n");
    remember(answer.text);
    if (answer.finish_reason == FinishReason::length && std::ssize(answer.ids) == room)
      write_error_line("the answer is cut off where the model's context ends; /reset begins a new conversation");
    return true;
  }

  GeneratedText answer_to(std::vector<std::int32_t> prompt) {
    const AnswerInterruption interruption(at_terminal_);
    return conversation_.answer(
        std::move(prompt), [](std::string_view more) { show(more); }, [&] { return interruption.came(); });
  }

  void remember(const std::string& text) {
    ToolCallFinder finder(tools_.names);
    ToolCallFinder::Found found = finder.push(text);
    found += finder.finish();
    if (found.calls.empty()) return messages_.push_back(message(data::ChatRole::assistant, text));
    for (ToolCall& call : found.calls) calls_.push_back({std::move(call), new_tool_call_id()});
    messages_.push_back(answer_with(found.text, calls_));
    ask_for_result();
  }

  void ask_for_result() const {
    write_error_line(
        fmt::format("the model calls {} with {}; the next line is what it gives, unless it is /reset or "
                    "/exit",
                    calls_.front().name, in_one_line(calls_.front().arguments)));
  }

  void tell_full(std::int64_t tokens) const {
    write_error_line(
        fmt::format("not said: the conversation would have {} tokens, and the model's context leaves no "
                    "room for an answer; say less, or begin a new conversation with /reset",
                    tokens));
  }

  Conversation& conversation_;
  const ChatPrompt& prompt_;
  const std::string& system_;
  const Tools& tools_;
  bool at_terminal_;
  std::vector<PromptMessage> messages_;
  std::deque<AwaitedCall> calls_;  ///< whose results are to come
};

/// Reads lines until there are no more, or /exit.
void talk(Chat& chat, bool is_watched) {
  if (is_watched) write_error_line(help);
  for (std::string line; (is_watched ? show("> ") : void()), std::getline(std::cin, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (line == "/exit") return;
    if (line == "/reset") {
      chat.reset();
    } else if (chat.awaits_result()) {
      chat.say(line);  // whatever it is: a tool may give a path, or nothing
    } else if (line.starts_with('/')) {
      if (line != "/help") write_error_line(fmt::format("there is no command {}", in_quotes(line)));
      write_error_line(help);
    } else if (line.find_first_not_of(" \t") != std::string::npos) {
      chat.say(line);
    }
  }
  if (is_watched) show("\n");
}

}  // namespace

void ChatOptions::add_to(CLI::App& app) {
  usual_max_tokens.reset();
  GenerationOptions::add_to(app);
  app.add_option("--system", system, "what the model is told before the conversation");
  chat_template.add_to(app);
  app.add_option("--tools", tools_file,
                 "tools that the model may call: a file of JSON, the list that OpenAI's API calls tools");
}

int run_chat(const RecipeProgram& recipe, const ChatOptions& options) {
  check_predicts_next_token(recipe);
  TextModel model = load_text_model(recipe, options, &options.chat_template);
  const ChatPrompt prompt = prompt_of(model);
  const Tools tools = tools_of(options, prompt);
  const std::int64_t T = recipe.model->context_length;
  write_notes(model, "options say it otherwise");
  constexpr std::int64_t sequences = 2;  // the second one for a moment, when a conversation goes on otherwise
  model.settings.is_turn = true;
  with_session(*model.weights, {request_for_texts(T, sequences, T, T).sizes}, [&](Session& session) {
    Conversation conversation(session, *model.tokenizer, model.settings);
    const bool is_watched = is_terminal(STDIN_FILENO);
    Chat chat(conversation, prompt, options.system, tools, is_watched && is_terminal(STDOUT_FILENO));
    talk(chat, is_watched);
  });
  return 0;
}

}  // namespace monomorph::train
