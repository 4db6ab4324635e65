#include "template_option.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <iomanip>
#include <sstream>

namespace monomorph::tools {
namespace {

/// Whatever is wrong with a template, another is to be named.
template <class Read> data::TemplateChoice read_choice(Read read) {
  try {
    return read();
  } catch (const Error& error) {
    throw UsageError(error.id(), std::string(error.text()));
  }
}

}  // namespace

void TemplateOption::add_to(CLI::App& command, const std::string& without) {
  command.add_option("--template", name,
                     fmt::format("How chats are written: {}, or a file of a template in Jinja, or a model's folder; "
                                 "unless given, {}",
                                 data::chat_template_names(), without));
  command.add_option("--date", date,
                     "The day (YYYY-MM-DD) that a model's own template writes, if it writes one; unless given, today");
  command.add_option("--template-kwargs", variables,
                     "Variables of a model's own template, a JSON object such as {\"enable_thinking\": false}");
}

std::optional<data::TemplateChoice> TemplateOption::choice() const {
  std::optional<data::TemplateChoice> chosen;
  if (!name.empty()) chosen = read_choice([&] { return data::TemplateChoice::named(name, given_variables()); });
  if (!date.empty() && (!chosen || chosen->known() != nullptr))
    throw UsageError("CHAT-09", "--date is for a model's own template; leave it out");
  if (!chosen && !variables.empty())
    throw UsageError("CHAT-21", "--template-kwargs are of a model's own template; leave them out, or give --template");
  return chosen;
}

data::TemplateChoice TemplateOption::choice_or_of(const std::string& folder) const {
  if (!name.empty()) return *choice();
  return read_choice([&] { return data::TemplateChoice::of_file(folder, given_variables()); });
}

data::TemplateVariables TemplateOption::given_variables() const {
  if (variables.empty()) return {};
  return data::template_variables_of(variables, "--template-kwargs");
}

std::time_t TemplateOption::now() const {
  if (date.empty()) return std::time(nullptr);
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

}  // namespace monomorph::tools
