#include "train/commands/chat_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/text_model.hpp"
#include "train/inference/conversation.hpp"
#include "train/inference/tool_calls.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/terminal.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/chat/model_template.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <deque>
#include <iostream>
#include <set>

namespace monomorph::train {
namespace {

using data::jinja::Value;

constexpr std::string_view help =
    "/reset begins a new conversation, /exit ends the program; every other line is said to the model";

data::ModelTemplate template_of(const ChatOptions& options, const std::string& folder) {
  if (!options.template_file.empty())
    return as_usage_error("--template", [&] { return data::ModelTemplate::of_file(options.template_file); });
  return as_usage_error("the tokeniser's folder", [&] { return data::ModelTemplate::of_file(folder); });
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

Tools tools_of(const ChatOptions& options, const data::ModelTemplate& chat_template) {
  if (options.tools_file.empty()) return {};
  Tools tools = as_usage_error("--tools", [&] { return tools_of(options.tools_file); });
  if (!chat_template.takes_tools())
    throw UsageError("CHAT-19",
                     "the chat template has no place for tools; leave --tools out, or name one that has with "
                     "--template");
  return tools;
}

Value message(std::string_view role, std::string_view content) {
  return Value::dict({{"role", role}, {"content", data::replace_invalid_utf8(content)}});
}

Value result_of(const ToolCall& call, std::string_view content) {
  return Value::dict(
      {{"role", "tool"}, {"name", std::string_view(call.name)}, {"content", data::replace_invalid_utf8(content)}});
}

Value answer_with(std::string_view text, const std::deque<ToolCall>& calls) {
  std::vector<Value> list;
  for (const ToolCall& call : calls) {
    const Value arguments = data::jinja::value_of_json(call.arguments, "the arguments of a call");
    list.push_back(
        Value::dict({{"type", "function"},
                     {"function", Value::dict({{"name", std::string_view(call.name)}, {"arguments", arguments}})}}));
  }
  return Value::dict({{"role", "assistant"},
                      {"content", data::replace_invalid_utf8(text)},
                      {"tool_calls", Value::list(std::move(list))}});
}

/// A conversation at the terminal: reads what the user says and shows what the model answers.
class Chat {
 public:
  Chat(Conversation& conversation, const data::Tokenizer& tokenizer, const data::ModelTemplate& chat_template,
       const std::string& system, const Tools& tools)
      : conversation_(conversation), tokenizer_(tokenizer), template_(chat_template), system_(system), tools_(tools) {
    reset();
  }

  void reset() {
    calls_.clear();
    messages_.clear();
    if (!system_.empty()) messages_.push_back(message("system", system_));
  }

  /// Whether the next thing that is said is what a tool gives.
  bool awaits_result() const { return !calls_.empty(); }

  /// Shows the answer to what the user says, or to what the tools give that the model has called. What there is no room
  /// for isn't said.
  void say(std::string_view words) {
    if (calls_.empty()) {
      messages_.push_back(message("user", words));
      answer();
      return;
    }
    const ToolCall call = std::move(calls_.front());
    calls_.pop_front();
    messages_.push_back(result_of(call, words));
    if (!calls_.empty()) return ask_for_result();
    if (!answer()) calls_.push_back(call);  // which may have a shorter result
  }

 private:
  /// @return false, and the last message is taken back, if there is no room for it
  bool answer() {
    const std::string text = template_.render(Value::list(messages_), tools_.list, true).text;
    std::vector<std::int32_t> prompt = tokenizer_.encode(text);
    if (prompt.empty()) throw Error("JINJA-02", "the template writes nothing; name another with --template");
    if (conversation_.room(prompt) < 1) {
      messages_.pop_back();
      tell_full(std::ssize(prompt));
      return false;
    }
    const auto room = conversation_.room(prompt);
    const GeneratedText answer = conversation_.answer(std::move(prompt), [](std::string_view more) { show(more); });
    show("\n");
    remember(answer.text);
    if (answer.finish_reason == FinishReason::length && std::ssize(answer.ids) == room)
      write_error_line("the answer is cut off where the model's context ends; /reset begins a new conversation");
    return true;
  }

  void remember(const std::string& text) {
    ToolCallFinder finder(tools_.names);
    ToolCallFinder::Found found = finder.push(text);
    found += finder.finish();
    if (found.calls.empty()) return messages_.push_back(message("assistant", text));
    calls_.assign(found.calls.begin(), found.calls.end());
    messages_.push_back(answer_with(found.text, calls_));
    ask_for_result();
  }

  void ask_for_result() const {
    write_error_line(
        fmt::format("the model calls {} with {}; the next line is what it gives, unless it is /reset or "
                    "/exit",
                    calls_.front().name, calls_.front().arguments));
  }

  void tell_full(std::int64_t tokens) const {
    write_error_line(
        fmt::format("not said: the conversation would have {} tokens, and the model's context leaves no "
                    "room for an answer; say less, or begin a new conversation with /reset",
                    tokens));
  }

  Conversation& conversation_;
  const data::Tokenizer& tokenizer_;
  const data::ModelTemplate& template_;
  const std::string& system_;
  const Tools& tools_;
  std::vector<Value> messages_;
  std::deque<ToolCall> calls_;  ///< whose results are to come
};

/// Reads lines until there are no more, or /exit.
void talk(Chat& chat) {
  const bool is_watched = is_terminal(STDIN_FILENO);
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
  GenerationOptions::add_to(app);
  app.add_option("--system", system, "what the model is told before the conversation");
  app.add_option("--template", template_file,
                 "the chat template: a file in Jinja, or a tokenizer_config.json; the model's own if it is not given");
  app.add_option("--tools", tools_file,
                 "tools that the model may call: a file of JSON, the list that OpenAI's API calls tools");
}

int run_chat(const RecipeProgram& recipe, const ChatOptions& options) {
  check_predicts_next_token(recipe);
  TextModel model = load_text_model(recipe, options);
  const data::ModelTemplate chat_template = template_of(options, model.folder);
  const Tools tools = tools_of(options, chat_template);
  const std::int64_t T = recipe.model->context_length;
  Session session = session_of(model, std::nullopt, 1, T, T);
  Conversation conversation(session, *model.tokenizer, model.settings);
  Chat chat(conversation, *model.tokenizer, chat_template, options.system, tools);
  talk(chat);
  return 0;
}

}  // namespace monomorph::train
