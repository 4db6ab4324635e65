#include "command.hpp"
#include "commands.hpp"
#include "template_option.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_pack.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <sstream>

namespace monomorph::tools {
namespace {

struct Chat {
  static constexpr const char* name = "chat";
  static constexpr const char* description =
      "Turn chats into packed samples with a loss mask beside them, by a model's chat template";

  InputsOption inputs;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;
  TemplateOption chat_template;
  std::string tokenizer_path;
  std::string roles = "assistant";
  data::ChatPackSettings settings;

  void add_options(CLI::App& command) {
    inputs.add_records_to(command, "chat: a list of messages with role and content, or from and value");
    output.add_to(command, "packed file (.pbin) to write; its loss mask (.mask) goes beside it");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json or .model with the template's special tokens")
        ->required();
    chat_template.add_to(command, "the one beside the tokenizer");
    add_number(command, "--sequence-length", settings.sequence_length,
               "Tokens of a sample, as the run that reads it has")
        ->required();
    command.add_option("--roles", roles, "Whose messages count in the loss, with commas between: " + role_names())
        ->capture_default_str();
    command.add_option("--field", settings.field,
                       "Where a record has its messages (JSON Pointer); unless given, /messages or /conversations");
    add_choice(command, "--on-too-long", settings.too_long,
               "A chat longer than a sample: truncate (the end is lost), skip or error",
               {{"truncate", data::TooLong::truncate}, {"skip", data::TooLong::skip}, {"error", data::TooLong::refuse}})
        ->capture_default_str();
    on_error.add_to(command);
    threads.add_to(command);
  }

  static std::string role_names() {
    std::string names;
    for (const std::string_view role : data::chat_role_names) names.append(names.empty() ? "" : ", ").append(role);
    return names;
  }

  data::ChatRoles counted_roles() const {
    data::ChatRoles counted;
    std::istringstream names(roles);
    for (std::string role; std::getline(names, role, ',');) {
      const auto found = data::find_chat_role(role);
      if (!found) {
        throw UsageError("CHAT-09",
                         fmt::format("there is no role {}; --roles takes {}", in_quotes(role), role_names()));
      }
      counted.set(static_cast<std::size_t>(*found));
    }
    return counted;
  }

  data::TemplateChoice chosen_template() const {
    const std::string beside = std::filesystem::path(tokenizer_path).parent_path().string();
    return chat_template.choice_or_of(beside.empty() ? "." : beside);
  }

  void run(Console& console) const {
    const std::string mask_path = data::loss_mask_path(output.path);
    const std::vector<std::string> files = inputs.files();
    output.check({output.path, mask_path, on_error.written_report(output)}, with_file(files, tokenizer_path));
    data::ChatPackSettings chosen = settings;
    chosen.chat_template = chosen_template();  // before the tokenizer, which takes a while to read
    chosen.now = chat_template.now();
    chosen.counted_roles = counted_roles();
    chosen.on_error = on_error.value;
    chosen.report = on_error.report_path(output);
    chosen.n_threads = threads.count;
    chosen.progress = console.progress();
    const auto tokenizer = data::read_tokenizer(tokenizer_path);
    const data::ChatPackSummary summary = data::pack_chats(files, *tokenizer, output.path, chosen);
    say(console, summary);
    console.summarise({{"output", output.path},
                       {"mask", mask_path},
                       {"records", summary.n_records},
                       {"chats", summary.n_chats},
                       {"truncated", summary.n_truncated},
                       {"too_long", summary.n_too_long},
                       {"without_counted_tokens", summary.n_without_counted},
                       {"skipped", summary.n_skipped},
                       {"samples", summary.n_samples},
                       {"sequence_length", settings.sequence_length},
                       {"fill", summary.fill()},
                       {"tokens", summary.n_tokens},
                       {"chat_tokens", summary.n_chat_tokens},
                       {"counted_tokens", summary.n_counted},
                       {"input_bytes", summary.input_bytes}});
  }

  void say(Console& console, const data::ChatPackSummary& summary) const {
    console.say(fmt::format("{}: {} chats in {} samples of {} tokens, {:.1f} % full; {} tokens count in the loss",
                            output.path, summary.n_chats, summary.n_samples, settings.sequence_length,
                            100 * summary.fill(), summary.n_counted));
    const auto note = [&](std::int64_t n, const char* what) {
      if (n > 0) console.say(fmt::format("note: {} of {} chats {}", n, summary.n_records, what));
    };
    note(summary.n_truncated, "are longer than a sample and lost their end");
    note(summary.n_too_long, "are longer than a sample and were left out");
    note(summary.n_without_counted, "were left out, as none of their tokens counts");
    on_error.tell(console, output, summary.n_skipped);
  }
};

}  // namespace

void add_chat(CLI::App& program) { add_command<Chat>(program); }

}  // namespace monomorph::tools
