#include "train/commands/chat_command.hpp"

#include "train/commands/text_model.hpp"
#include "train/inference/conversation.hpp"
#include "train/run/as_usage_error.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/terminal.hpp>
#include <monomorph/data/chat/model_template.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

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

Value message(std::string_view role, std::string_view content) {
  return Value::dict({{"role", role}, {"content", data::replace_invalid_utf8(content)}});
}

/// What is said to and fro.
class Chat {
 public:
  Chat(Conversation& conversation, const data::Tokenizer& tokenizer, const data::ModelTemplate& chat_template,
       const std::string& system)
      : conversation_(conversation), tokenizer_(tokenizer), template_(chat_template), system_(system) {
    reset();
  }

  void reset() {
    messages_.clear();
    if (!system_.empty()) messages_.push_back(message("system", system_));
  }

  /// Shows the answer to what the user says. What there is no room for isn't said.
  void say(std::string_view words) {
    messages_.push_back(message("user", words));
    const std::string text = template_.render(Value::list(messages_), {}, true).text;
    std::vector<std::int32_t> prompt = tokenizer_.encode(text);
    if (prompt.empty()) throw Error("JINJA-02", "the template writes nothing; name another with --template");
    if (conversation_.room(prompt) < 1) {
      messages_.pop_back();
      return tell_full(std::ssize(prompt));
    }
    const auto room = conversation_.room(prompt);
    const GeneratedText answer = conversation_.answer(std::move(prompt), [](std::string_view more) { show(more); });
    show("\n");
    messages_.push_back(message("assistant", answer.text));
    if (answer.finish_reason == FinishReason::length && std::ssize(answer.ids) == room)
      write_error_line("the answer is cut off where the model's context ends; /reset begins a new conversation");
  }

 private:
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
  std::vector<Value> messages_;
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
}

int run_chat(const RecipeProgram& recipe, const ChatOptions& options) {
  check_predicts_next_token(recipe);
  TextModel model = load_text_model(recipe, options);
  const data::ModelTemplate chat_template = template_of(options, model.folder);
  const std::int64_t T = recipe.model->context_length;
  Session session = session_of(model, std::nullopt, 1, T, T);
  Conversation conversation(session, *model.tokenizer, model.settings);
  Chat chat(conversation, *model.tokenizer, chat_template, options.system);
  talk(chat);
  return 0;
}

}  // namespace monomorph::train
