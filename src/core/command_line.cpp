#include <monomorph/core/command_line.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/number_text.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/core/standard_streams.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>

namespace monomorph {
namespace {

/// "stop, skip or error".
std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

[[noreturn]] void refuse(const std::string& name, const std::string& expected, const std::string& given) {
  throw CLI::ValidationError(fmt::format("{} must be {}, not {}", name, expected, in_quotes(given)));
}

/// Behind what --help says of an option; nothing if any number serves.
template <class Number> std::string bounds_for_help(Bounds<Number> bounds) {
  if (bounds.most < Bounds<Number>{}.most) return ", " + format_bounds(bounds.least, bounds.most);
  return bounds.least == 0 ? "" : fmt::format(", {} or more", format_number(bounds.least));
}

/// "monomorph-data pack", also where the program was called by its path.
std::string name_of_command(const CLI::App& program) {
  std::string name = std::filesystem::path(program.get_name()).filename().string();
  for (const CLI::App* const command : program.get_subcommands()) name += " " + command->get_name();
  return name;
}

}  // namespace

namespace detail {

template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, const std::string& what, Bounds<Number> bounds,
                        std::function<void(Number)> set, std::function<std::optional<Number>()> get,
                        const WordForNumber& instead) {
  const auto read = [=](const std::string& text) {
    if (instead.set && text == instead.word) return instead.set();
    const auto number = number_from<Number>(text);
    if (!number || *number < bounds.least || *number > bounds.most) {
      const char* const kind = std::is_floating_point_v<Number> ? "a number" : "a whole number";
      refuse(name,
             fmt::format("{} {}{}", kind, format_bounds(bounds.least, bounds.most),
                         instead.set ? " or " + instead.word : ""),
             text);
    }
    set(*number);
  };
  CLI::Option* const option = command.add_option_function<std::string>(name, read, what + bounds_for_help(bounds));
  option->default_function([get] {
    const auto number = get();
    return number ? fmt::format("{}", *number) : std::string();
  });
  return option->type_name(instead.set ? "NUMBER|" + instead.word : "NUMBER");
}

template CLI::Option* add_number(CLI::App&, const std::string&, const std::string&, Bounds<std::int64_t>,
                                 std::function<void(std::int64_t)>, std::function<std::optional<std::int64_t>()>,
                                 const WordForNumber&);
template CLI::Option* add_number(CLI::App&, const std::string&, const std::string&, Bounds<std::uint64_t>,
                                 std::function<void(std::uint64_t)>, std::function<std::optional<std::uint64_t>()>,
                                 const WordForNumber&);
template CLI::Option* add_number(CLI::App&, const std::string&, const std::string&, Bounds<double>,
                                 std::function<void(double)>, std::function<std::optional<double>()>,
                                 const WordForNumber&);

CLI::Option* add_choice(CLI::App& command, const std::string& name, const std::string& what,
                        std::vector<std::string> words, std::function<void(std::size_t)> set,
                        std::function<std::optional<std::size_t>()> get) {
  const auto read = [=](const std::string& text) {
    const auto found = std::find(words.begin(), words.end(), text);
    if (found == words.end()) refuse(name, listed(words), text);
    set(static_cast<std::size_t>(found - words.begin()));
  };
  CLI::Option* const option = command.add_option_function<std::string>(name, read, what);
  option->default_function([get, words] {
    const auto i = get();
    return i ? words[*i] : std::string();
  });
  return option->type_name(fmt::format("{}", fmt::join(words, "|")));
}

}  // namespace detail

bool parse_command_line(CLI::App& program, int argc, char** argv, ErrorId id) {
  try {
    program.parse(argc, argv);
    return true;
  } catch (const CLI::CallForHelp&) {
    write_out(program.help());
    flush_out();
    return false;
  } catch (const CLI::ParseError& error) {
    std::string text = error.what();  // may have any bytes of an argument, and a message has one line
    std::replace_if(
        text.begin(), text.end(), [](char byte) { return byte >= 0 && byte < ' '; }, ' ');
    throw UsageError(id, fmt::format("{}; see {} --help", text, name_of_command(program)));
  }
}

}  // namespace monomorph
