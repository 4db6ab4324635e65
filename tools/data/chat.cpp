#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_pack.hpp>
#include <monomorph/data/chat/model_template.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iomanip>
#include <sstream>

namespace monomorph::tools {
namespace {

struct Chat {
  static constexpr const char* name = "chat";
  static constexpr const char* description =
      "Turn chats into packed samples with a loss mask beside them, by a model's chat template";

  InputOption input;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;
  std::string tokenizer_path, chat_template, date;
  std::string roles = "assistant";
  data::ChatPackSettings settings;

  void add_options(CLI::App& command) {
    input.add_to(
        command,
        "JSON Lines or Parquet, one chat a line or row: a list of messages with role and content, or from and value");
    output.add_to(command, "packed file (.pbin) to write; its loss mask (.mask) goes beside it");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json or .model with the template's special tokens")
        ->required();
    command.add_option(
        "--template", chat_template,
        "How chats are written: " + template_names() +
            ", or a file or folder with a model's own template in Jinja; unless given, the one beside the "
            "tokenizer");
    command.add_option("--date", date,
                       "The day (YYYY-MM-DD) that a model's own template writes, if it writes one; unless "
                       "given, today");
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

  static std::string template_names() {
    std::string names;
    for (const data::ChatTemplate& chat_template : data::chat_templates()) {
      names.append(names.empty() ? "" : ", ").append(chat_template.name);
    }
    return names;
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

  bool is_known() const {
    return std::ranges::any_of(data::chat_templates(), [&](const auto& known) { return known.name == chat_template; });
  }

  /// By name, or out of the file or the folder that is given, or beside the tokenizer.
  void choose_template(data::ChatPackSettings& chosen) const {
    std::error_code ignored;
    const bool is_path = chat_template.empty() || chat_template.find_first_of("/.") != std::string::npos ||
                         std::filesystem::exists(chat_template, ignored);
    if (is_known() || !is_path) {
      if (!date.empty()) throw UsageError("CHAT-09", "--date is for a model's own template; leave it out");
      chosen.chat_template = data::find_chat_template(chat_template).name;
      return;
    }
    const std::string beside = std::filesystem::path(tokenizer_path).parent_path().string();
    chosen.model_template = read_template(!chat_template.empty() ? chat_template : beside.empty() ? "." : beside);
    if (!date.empty()) chosen.now = noon_of(date);
  }

  static std::shared_ptr<const data::ModelTemplate> read_template(const std::string& path) {
    try {
      return std::make_shared<const data::ModelTemplate>(data::ModelTemplate::of_file(path));
    } catch (const Error& error) {  // whatever is wrong with it, another is to be named
      throw UsageError(error.id(), std::string(error.text()));
    }
  }

  static std::time_t noon_of(const std::string& date) {
    std::tm parts{};
    std::istringstream text(date);
    text >> std::get_time(&parts, "%Y-%m-%d");
    const std::tm wanted = parts;
    parts.tm_hour = 12;
    parts.tm_isdst = -1;
    const std::time_t time = std::mktime(&parts);
    const bool is_day = text && text.peek() == EOF && date.size() == std::string_view("YYYY-MM-DD").size() &&
                        parts.tm_mday == wanted.tm_mday && time != -1;
    if (!is_day)
      throw UsageError("CHAT-09", fmt::format("--date {} is no day; write it like 2025-03-09", in_quotes(date)));
    return time;
  }

  void run(Console& console) const {
    const std::string mask_path = data::loss_mask_path(output.path);
    output.check({output.path, mask_path, on_error.written_report(output)}, {input.path, tokenizer_path});
    data::ChatPackSettings chosen = settings;
    chosen.counted_roles = counted_roles();
    chosen.on_error = on_error.value;
    chosen.report = on_error.report_path(output);
    chosen.n_threads = threads.count;
    chosen.progress = console.progress();
    choose_template(chosen);  // before the tokenizer, which takes a while to read
    const auto read = data::read_tokenizer(tokenizer_path);
    const data::Tokenizer& tokenizer = *read;
    const data::ChatPackSummary summary = data::pack_chats(input.path, tokenizer, output.path, chosen);
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
