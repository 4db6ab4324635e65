#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/filters.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/percent_format.hpp"
#include "data/jinja/text_methods.hpp"
#include "data/jinja/text_search.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {
namespace text_filtering {
namespace {

Value made(Interpreter& interpreter, std::string text) {
  interpreter.budget().make(text.size());
  return text;
}

template <std::string (*convert)(std::string_view)>
Value converted_filter(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("a change of case", arguments, {});
  return made(interpreter, convert(text_of(interpreter.budget(), value)));
}

Value string(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("string", arguments, {});
  return value.is_text() ? value : Value(text_of(interpreter.budget(), value));
}

/// A method of texts, of whatever the filter gets as text.
template <std::string_view (*name)()>
Value as_method(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  return find_text_method(name())(interpreter, text_of(interpreter.budget(), value), arguments);
}
std::string_view strip_name() { return "strip"; }

Value center(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("center", arguments, {"width"});
  return find_text_method("center")(interpreter, text_of(interpreter.budget(), value), {{bound.integer(0, 80)}, {}});
}

Value replace(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("replace", arguments, {"old", "new", "count"}, 2);
  Budget& budget = interpreter.budget();
  return replaced(budget, text_of(budget, value), text_of(budget, bound.value(0)), text_of(budget, bound.value(1)),
                  bound.some(2) == nullptr ? -1 : bound.integer(2, -1));
}

Value format(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty()) fail("format takes values in order or by name");
  std::vector<std::pair<Value, Value>> named;
  for (const auto& [name, item] : arguments.named) named.emplace_back(Value(name), item);
  const Value values = named.empty() ? Value::tuple(arguments.positional) : Value::dict(std::move(named));
  return percent_format(interpreter.budget(), text_of(interpreter.budget(), value), values);
}

/// What Jinja takes for white space and brackets between words.
bool begins_word(char32_t c) { return python::is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<'; }

std::string titled_by_jinja(std::string_view text) {
  std::string result;
  bool begins = true;
  for_each_character(text, [&](char32_t c, std::string_view bytes) {
    result += begins ? python::upper(bytes) : python::lower(bytes);
    begins = begins_word(c);
  });
  return result;
}

Value escape(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("escape", arguments, {});
  std::string result;
  for (const char c : text_of(interpreter.budget(), value)) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&#34;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return made(interpreter, std::move(result));
}

/// The first line by itself, and the others behind so much; as Jinja, a line end at the end stays.
Value indent(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("indent", arguments, {"width", "first", "blank"});
  Budget& budget = interpreter.budget();
  std::string by = bound.at(0) != nullptr && bound.value(0).is_text() ? *bound.value(0).text() : std::string();
  if (bound.at(0) == nullptr || !bound.value(0).is_text()) {
    const std::int64_t width = std::max<std::int64_t>(bound.integer(0, 4), 0);
    budget.make(1, static_cast<std::size_t>(width));
    by.assign(static_cast<std::size_t>(width), ' ');
  }
  const std::string text = text_of(budget, value) + "\n";
  const auto lines = python::lines_of(text);
  const bool indents_blank = bound.flag(2, false);
  std::string result = bound.flag(1, false) ? by : std::string();
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) result += '\n';
    if (i > 0 && (indents_blank || !lines[i].empty())) {
      budget.make(by.size());
      result += by;
    }
    result += lines[i];
  }
  return made(interpreter, std::move(result));
}

Value truncate(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("truncate", arguments, {"length", "killwords", "end", "leeway"});
  const std::string text = text_of(interpreter.budget(), value), end = bound.text(2, "...");
  const std::int64_t length = bound.integer(0, 255), leeway = bound.some(3) == nullptr ? 5 : bound.integer(3, 5);
  const auto end_length = static_cast<std::int64_t>(python::length_of(end));
  if (length < end_length) fail("truncate keeps at least the length of its end, {}", end_length);
  if (leeway < 0) fail("truncate has a leeway of 0 or more");
  if (static_cast<std::int64_t>(python::length_of(text)) - leeway <= length) return text;
  std::string kept = text.substr(0, python::offset_of(text, static_cast<std::size_t>(length - end_length)));
  if (const std::size_t space = kept.rfind(' '); !bound.flag(1, false) && space != std::string::npos)
    kept.resize(space);
  return made(interpreter, kept + end);
}

Value wordcount(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("wordcount", arguments, {});
  std::int64_t words = 0;
  bool within = false;
  for_each_character(text_of(interpreter.budget(), value), [&](char32_t c, std::string_view) {
    const bool is_word = python::is_letter(c) || python::is_decimal(c) || c == '_';
    words += is_word && !within;
    within = is_word;
  });
  return words;
}

constexpr NamedFilter filters_of_text[] = {{"capitalize", converted_filter<python::capitalized>},
                                           {"center", center},
                                           {"e", escape},
                                           {"escape", escape},
                                           {"forceescape", escape},
                                           {"format", format},
                                           {"indent", indent},
                                           {"lower", converted_filter<python::lower>},
                                           {"replace", replace},
                                           {"safe", string},
                                           {"string", string},
                                           {"title", converted_filter<titled_by_jinja>},
                                           {"trim", as_method<strip_name>},
                                           {"truncate", truncate},
                                           {"upper", converted_filter<python::upper>},
                                           {"wordcount", wordcount}};

}  // namespace
}  // namespace text_filtering

std::span<const NamedFilter> text_filters() { return text_filtering::filters_of_text; }

}  // namespace monomorph::data::jinja
