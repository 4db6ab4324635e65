#include "data/records/json_line_parser.hpp"

#include "data/records/json_kind.hpp"
#include "data/records/line_block.hpp"
#include "data/work/byte_gate.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace monomorph::data {
namespace {

namespace dom = simdjson::dom;

static_assert(LineBlock::padding_bytes >= simdjson::SIMDJSON_PADDING);
// A parser may take 12 bytes for a byte of its longest line, and every thread keeps one of its own.
constexpr std::size_t usual_line_bytes = std::size_t{128} << 10;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

LineProblem broken(std::string reason) { return {"DATA-02", std::move(reason)}; }

LineProblem problem_of(simdjson::error_code code) {
  switch (code) {
    case simdjson::UTF8_ERROR:
      return broken("this is not UTF-8");
    case simdjson::DEPTH_ERROR:
      return broken(fmt::format("it is nested more than {} deep", simdjson::DEFAULT_MAX_DEPTH));
    case simdjson::NUMBER_ERROR:
      return broken("it has a number that is none in JSON");
    case simdjson::STRING_ERROR:
      return broken("a string has an escape that is none, or half of a surrogate pair");
    case simdjson::UNCLOSED_STRING:
      return broken("a string does not end");
    case simdjson::UNESCAPED_CHARS:
      return broken("a string has a control character that is not escaped");
    case simdjson::EMPTY:
      return broken("the line is blank");
    case simdjson::MEMALLOC:
      throw std::bad_alloc();
    default:
      return broken("this is not one JSON value");
  }
}

bool is_digit(char character) { return character >= '0' && character <= '9'; }

bool is_number(std::string_view text) {
  const auto skip_digits = [&text] {
    const std::size_t n = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
    text.remove_prefix(n);
    return n;
  };
  const auto skip_one_of = [&text](std::string_view characters) {
    const bool found = !text.empty() && characters.find(text.front()) != std::string_view::npos;
    if (found) text.remove_prefix(1);
    return found;
  };
  skip_one_of("-");
  const bool begins_with_zero = text.starts_with('0');
  const std::size_t n_digits = skip_digits();
  if (n_digits == 0 || (begins_with_zero && n_digits > 1)) return false;
  if (skip_one_of(".") && skip_digits() == 0) return false;
  if (skip_one_of("eE")) {
    skip_one_of("+-");
    if (skip_digits() == 0) return false;
  }
  return text.empty();
}

/// The line with 0 in the place of every number: JSON has numbers of any size, the parser has not. It is one JSON value
/// exactly if the line is.
std::string without_numbers(std::string_view line) {
  constexpr std::string_view of_numbers = "0123456789+-.eE";
  std::string result(line);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        if (line[i] == '\\') ++i;
      }
    } else if (of_numbers.find(line[i]) != std::string_view::npos) {
      const std::size_t end = std::min(line.find_first_not_of(of_numbers, i), line.size());
      if (is_number(line.substr(i, end - i))) {
        std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(i), end - i, ' ');
        result[i] = '0';
      }
      i = end - 1;
    }
  }
  return result;
}

std::optional<dom::element> at_step(const dom::element& value, const std::string& step) {
  if (value.is_object()) return find_member(value, step);
  if (!value.is_array() || step.empty() || (step.size() > 1 && step[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto [end, failure] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (failure != std::errc{} || end != step.data() + step.size()) return std::nullopt;
  dom::element result;
  if (value.get_array().value_unsafe().at(index).get(result) != simdjson::SUCCESS) return std::nullopt;
  return result;
}

std::variant<std::string_view, LineProblem> text_of(dom::element value, const FieldPointer& field) {
  if (!find_field(value, field)) {
    return LineProblem{"DATA-03", fmt::format("the record has no field {}; name the field of the text with --field",
                                              in_quotes(field.text()))};
  }
  if (!value.is_string()) {
    return LineProblem{"DATA-03", fmt::format("the field {} is {}, not text; name the field of the text with --field",
                                              in_quotes(field.text()), json_kind(value))};
  }
  return value.get_string().value_unsafe();
}

}  // namespace

FieldPointer::FieldPointer(std::string pointer) : text_(std::move(pointer)) {
  const auto refuse = [this] {
    throw UsageError("DATA-10", fmt::format("the field {} is no JSON Pointer; write it like /text or /meta/text",
                                            in_quotes(text_)));
  };
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '/') {
      steps_.emplace_back();
    } else if (!steps_.empty() && text_[i] != '~') {
      steps_.back() += text_[i];
    } else if (!steps_.empty() && ++i < text_.size() && (text_[i] == '0' || text_[i] == '1')) {
      steps_.back() += text_[i] == '0' ? '~' : '/';
    } else {
      refuse();
    }
  }
}

struct JsonLineParser::Parser {
  dom::parser usual;

  /// Calls `use(value, whether its numbers are kept)` with the value of the line, and returns what is wrong with the
  /// line otherwise.
  template <class Use> std::optional<LineProblem> parse(std::string_view line, Use use) {
    if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return broken("the line is blank");
    if (line.size() <= usual_line_bytes) return parse(line, usual, use);
    static ByteGate long_lines(longest_line_bytes);
    const ByteGate::Stay stay(long_lines, line.size());
    dom::parser parser;
    return parse(line, parser, use);
  }

 private:
  template <class Use>
  static std::optional<LineProblem> parse(std::string_view line, dom::parser& parser, const Use& use) {
    constexpr std::size_t smallest_capacity = std::size_t{16} << 10;
    if (parser.capacity() < line.size()) {
      const std::size_t capacity =
          line.size() > usual_line_bytes ? line.size() : std::max(smallest_capacity, 2 * line.size());
      if (parser.allocate(capacity) != simdjson::SUCCESS || parser.doc.allocate(capacity) != simdjson::SUCCESS)
        throw std::bad_alloc();
    }
    dom::element value;
    simdjson::error_code failure = parser.parse(line.data(), line.size(), false).get(value);
    const bool numbers_are_kept = failure == simdjson::SUCCESS;
    if (failure != simdjson::SUCCESS && failure != simdjson::UTF8_ERROR) {
      const std::string tamed = without_numbers(line);
      failure = parser.parse(tamed).get(value);
    }
    if (failure != simdjson::SUCCESS) return problem_of(failure);
    use(value, numbers_are_kept);
    return std::nullopt;
  }
};

JsonLineParser::JsonLineParser() : parser_(std::make_unique<Parser>()) {}
JsonLineParser::JsonLineParser(JsonLineParser&&) noexcept = default;
JsonLineParser::~JsonLineParser() = default;

std::variant<std::monostate, LineProblem> JsonLineParser::check(std::string_view line) {
  if (auto problem = parser_->parse(line, [](const dom::element&, bool) {})) return *std::move(problem);
  return {};
}

std::variant<std::string_view, LineProblem> JsonLineParser::text_at(std::span<char> line, const FieldPointer& field) {
  std::variant<std::string_view, LineProblem> result;
  auto problem = parser_->parse({line.data(), line.size()}, [&](const dom::element& value, bool) {
    result = text_of(value, field);
    // The text of a long line must outlive the parser. Escapes are longer than what they stand for.
    if (const auto* text = std::get_if<std::string_view>(&result); text != nullptr && line.size() > usual_line_bytes) {
      std::copy(text->begin(), text->end(), line.begin());
      result = std::string_view(line.data(), text->size());
    }
  });
  if (problem) return *std::move(problem);
  return result;
}

std::optional<LineProblem> JsonLineParser::visit(std::string_view line, const Visit& visit) {
  return parser_->parse(line, visit);
}

std::optional<dom::element> find_member(const dom::element& value, std::string_view name) {
  std::optional<dom::element> result;
  dom::object members;
  if (value.get(members) != simdjson::SUCCESS) return result;
  for (const auto [key, member] : members)
    if (key == name) result = member;
  return result;
}

bool find_field(dom::element& value, const FieldPointer& field) {
  for (const std::string& step : field.steps()) {
    const auto next = at_step(value, step);
    if (!next) return false;
    value = *next;
  }
  return true;
}

}  // namespace monomorph::data
