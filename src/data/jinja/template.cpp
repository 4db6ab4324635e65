#include "data/jinja/interpreter.hpp"
#include "data/jinja/lexer.hpp"
#include "data/jinja/parser.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

namespace monomorph::data::jinja {
namespace {

constexpr std::size_t longest_source = std::size_t{1} << 20;
constexpr std::size_t longest_message = 400;

/// On one line, whatever a template or a message of a chat had in it.
std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : replace_invalid_utf8(text.substr(0, longest_message)))
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  return text.size() > longest_message ? line + "…" : line;
}

std::string where(std::string_view name, int line) { return fmt::format("{}, line {}", in_quotes(name), line); }

Program program_of(const std::string& source, const std::string& name) {
  if (source.size() > longest_source)
    throw UsageError("JINJA-01", fmt::format("{} has {} bytes, and a template has {} at most", in_quotes(name),
                                             source.size(), longest_source));
  if (valid_utf8_prefix(source) != source.size())
    throw UsageError("JINJA-01", fmt::format("{} is not UTF-8; mend the template", in_quotes(name)));
  try {
    return parse(source);
  } catch (const SyntaxError& error) {
    throw UsageError("JINJA-01",
                     fmt::format("{}: {}; mend the template", where(name, error.line), one_line(error.what)));
  } catch (const Failure& failure) {
    throw UsageError("JINJA-01", fmt::format("{}: {}", in_quotes(name), one_line(failure.what)));
  }
}

}  // namespace

Template::Template(std::string source, std::string name)
    : source_(std::move(source)),
      name_(std::move(name)),
      program_(std::make_unique<const Program>(program_of(source_, name_))) {}
Template::~Template() = default;
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;

bool Template::marks_generation() const { return program_->marks_generation; }

Rendered Template::render(const std::vector<std::pair<std::string, Value>>& variables, const RenderLimits& limits,
                          std::time_t now) const {
  Interpreter interpreter(limits, now);
  try {
    return interpreter.run(*program_, variables);
  } catch (const Failure& failure) {
    throw Error(failure.id, fmt::format("{}: {}", where(name_, interpreter.line()), one_line(failure.what)));
  }
}

}  // namespace monomorph::data::jinja
