#include "data/jinja/text_methods.hpp"

#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/percent_format.hpp"
#include "data/jinja/text_search.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {
namespace text_methods {
namespace {

Value made(Interpreter& interpreter, std::string text) {
  interpreter.budget().make(text.size());
  return text;
}
void take_nothing(std::string_view method, const Arguments& arguments) { BoundArguments(method, arguments, {}); }

template <std::string (*convert)(std::string_view)>
Value converted(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  take_nothing("a change of case", arguments);
  return made(interpreter, convert(*self.text()));
}

std::string swapped(std::string_view text) {
  std::string result;
  for_each_character(text, [&](char32_t c, std::string_view bytes) {
    result += python::is_upper_letter(c)   ? python::lower(bytes)
              : python::is_lower_letter(c) ? python::upper(bytes)
                                           : std::string(bytes);
  });
  return result;
}

template <bool left, bool right> Value strip(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("strip", arguments, {"chars"});
  std::string_view text = *self.text();
  if (bound.some(0) != nullptr) {
    interpreter.budget().look(text.size() * bound.text(0).size());
    text = python::stripped_of(text, bound.text(0), left, right);
  } else {
    if (left) text = python::left_stripped(text);
    if (right) text = python::right_stripped(text);
  }
  return made(interpreter, std::string(text));
}

template <bool from_right> Value split(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("split", arguments, {"sep", "maxsplit"});
  const std::int64_t most = bound.integer(1, -1);
  const bool by_space = bound.some(0) == nullptr;
  if (!by_space && bound.text(0).empty()) fail("split by an empty text");
  const auto parts = by_space ? split_by_space(*self.text(), most, from_right)
                              : split_by(*self.text(), bound.text(0), most, from_right);
  interpreter.budget().make(self.text()->size() + parts.size() * sizeof(Value));
  return Value::list({parts.begin(), parts.end()});
}

Value splitlines(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("splitlines", arguments, {"keepends"});
  const auto lines = python::lines_of(*self.text(), bound.flag(0, false));
  interpreter.budget().make(self.text()->size() + lines.size() * sizeof(Value));
  return Value::list({lines.begin(), lines.end()});
}

template <bool from_right> Value partition(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("partition", arguments, {"sep"}, 1);
  const std::string &text = *self.text(), &separator = bound.text(0);
  if (separator.empty()) fail("partition by an empty text");
  interpreter.budget().make(text.size());
  const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
  if (at != std::string::npos) return Value::tuple({text.substr(0, at), separator, text.substr(at + separator.size())});
  return from_right ? Value::tuple({"", "", text}) : Value::tuple({text, "", ""});
}

/// What of a text lies between two places counted as slices count.
std::string_view part_between(const BoundArguments& bound, std::string_view text) {
  const auto size = static_cast<std::int64_t>(python::length_of(text));
  const auto place = [&](std::size_t argument, std::int64_t fallback) {
    const std::int64_t given = bound.some(argument) == nullptr ? fallback : bound.integer(argument, 0);
    return std::clamp<std::int64_t>(given < 0 ? given + size : given, 0, size);
  };
  const std::size_t begin = python::offset_of(text, static_cast<std::size_t>(place(1, 0))),
                    end = python::offset_of(text, static_cast<std::size_t>(place(2, size)));
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

template <bool at_end> Value touches(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound(at_end ? "endswith" : "startswith", arguments, {"prefix", "start", "end"}, 1);
  const std::string_view text = part_between(bound, *self.text());
  interpreter.budget().step();
  const auto is_touched = [&](const Value& part) {
    if (!part.is_text()) fail("startswith and endswith take a text, not {}", part.type_name());
    return at_end ? text.ends_with(*part.text()) : text.starts_with(*part.text());
  };
  require_defined(bound.value(0));
  const Sequence* const parts = bound.value(0).sequence();
  return parts != nullptr && parts->is_tuple ? std::ranges::any_of(parts->items, is_touched)
                                             : is_touched(bound.value(0));
}

template <bool from_right, bool must_be_there>
Value find(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("find", arguments, {"sub", "start", "end"}, 1);
  const std::string& text = *self.text();
  const std::string_view within = part_between(bound, text);
  interpreter.budget().look(text.size());
  const std::size_t at = from_right ? within.rfind(bound.text(0)) : within.find(bound.text(0));
  if (at == std::string_view::npos) {
    if (must_be_there) fail("{} is not in the text", python::repr_of_text(bound.text(0).substr(0, 100)));
    return std::int64_t{-1};
  }
  const auto before = within.empty() ? 0 : static_cast<std::size_t>(within.data() - text.data());
  return static_cast<std::int64_t>(python::length_of(std::string_view(text).substr(0, before + at)));
}

Value count(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("count", arguments, {"sub", "start", "end"}, 1);
  const std::string_view text = part_between(bound, *self.text());
  interpreter.budget().look(text.size());
  if (bound.text(0).empty()) return static_cast<std::int64_t>(python::length_of(text) + 1);
  return static_cast<std::int64_t>(split_by(text, bound.text(0), -1, false).size() - 1);
}

Value replace(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("replace", arguments, {"old", "new", "count"}, 2);
  return replaced(interpreter.budget(), *self.text(), bound.text(0), bound.text(1), bound.integer(2, -1));
}

Value join(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("join", arguments, {"iterable"}, 1);
  require_defined(bound.value(0));
  std::string text;
  bool is_first = true;
  for (const Value& item : items_of(interpreter.budget(), bound.value(0))) {
    if (!item.is_text()) fail("join takes texts, not {}", item.type_name());
    if (!std::exchange(is_first, false)) text += *self.text();
    interpreter.budget().make(self.text()->size() + item.text()->size());
    text += *item.text();
  }
  return text;
}

template <bool (*holds)(char32_t)>
Value is_all(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  take_nothing("a question of a text", arguments);
  interpreter.budget().look(self.text()->size());
  bool all = !self.text()->empty();
  for_each_character(*self.text(), [&](char32_t c, std::string_view) { all = all && holds(c); });
  return all;
}
bool is_letter_or_decimal(char32_t c) { return python::is_letter(c) || python::is_decimal(c); }

/// Some letters have a case, and all of these the wanted one.
template <bool wants_upper> Value is_of_case(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  take_nothing("a question of a text", arguments);
  interpreter.budget().look(self.text()->size());
  bool some = false, all = true;
  for_each_character(*self.text(), [&](char32_t c, std::string_view) {
    some = some || (wants_upper ? python::is_upper_letter(c) : python::is_lower_letter(c));
    all = all && !(wants_upper ? python::is_lower_letter(c) : python::is_upper_letter(c));
  });
  return some && all;
}

enum class Side { left, right, both };
template <Side side> Value justify(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("a width", arguments, {"width", "fillchar"}, 1);
  const std::string fill = bound.text(1, " ");
  if (!is_one_character(fill)) fail("a text is filled up with one character");
  const auto length = static_cast<std::int64_t>(python::length_of(*self.text()));
  const std::int64_t padding = std::max<std::int64_t>(bound.integer(0, 0) - length, 0);
  const std::int64_t before = side == Side::left    ? 0
                              : side == Side::right ? padding
                                                    : padding / 2 + (padding & bound.integer(0, 0) & 1);
  interpreter.budget().make(fill.size(), static_cast<std::size_t>(padding));
  std::string text;
  for (std::int64_t i = 0; i < before; ++i) text += fill;
  text += *self.text();
  for (std::int64_t i = before; i < padding; ++i) text += fill;
  return made(interpreter, std::move(text));
}

Value zfill(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("zfill", arguments, {"width"}, 1);
  const std::string& text = *self.text();
  const auto length = static_cast<std::int64_t>(python::length_of(text));
  const auto padding = static_cast<std::size_t>(std::max<std::int64_t>(bound.integer(0, 0) - length, 0));
  interpreter.budget().make(1, padding + text.size());
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  return text.substr(0, sign) + std::string(padding, '0') + text.substr(sign);
}

Value removeprefix(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("removeprefix", arguments, {"prefix"}, 1);
  const std::string& text = *self.text();
  return made(interpreter, text.starts_with(bound.text(0)) ? text.substr(bound.text(0).size()) : text);
}
Value removesuffix(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("removesuffix", arguments, {"suffix"}, 1);
  const std::string& text = *self.text();
  return made(interpreter, text.ends_with(bound.text(0)) ? text.substr(0, text.size() - bound.text(0).size()) : text);
}

Value format(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  return brace_format(interpreter.budget(), *self.text(), arguments);
}

struct NamedMethod {
  std::string_view name;
  Method method;
};
constexpr NamedMethod methods[] = {{"capitalize", converted<python::capitalized>},
                                   {"casefold", converted<python::lower>},
                                   {"center", justify<Side::both>},
                                   {"count", count},
                                   {"endswith", touches<true>},
                                   {"find", find<false, false>},
                                   {"format", format},
                                   {"index", find<false, true>},
                                   {"isalnum", is_all<is_letter_or_decimal>},
                                   {"isalpha", is_all<python::is_letter>},
                                   {"isdecimal", is_all<python::is_decimal>},
                                   {"isdigit", is_all<python::is_decimal>},
                                   {"islower", is_of_case<false>},
                                   {"isnumeric", is_all<python::is_decimal>},
                                   {"isspace", is_all<python::is_space>},
                                   {"isupper", is_of_case<true>},
                                   {"join", join},
                                   {"ljust", justify<Side::left>},
                                   {"lower", converted<python::lower>},
                                   {"lstrip", strip<true, false>},
                                   {"partition", partition<false>},
                                   {"removeprefix", removeprefix},
                                   {"removesuffix", removesuffix},
                                   {"replace", replace},
                                   {"rfind", find<true, false>},
                                   {"rindex", find<true, true>},
                                   {"rjust", justify<Side::right>},
                                   {"rpartition", partition<true>},
                                   {"rsplit", split<true>},
                                   {"rstrip", strip<false, true>},
                                   {"split", split<false>},
                                   {"splitlines", splitlines},
                                   {"startswith", touches<false>},
                                   {"strip", strip<true, true>},
                                   {"swapcase", converted<swapped>},
                                   {"title", converted<python::titled>},
                                   {"upper", converted<python::upper>},
                                   {"zfill", zfill}};

}  // namespace
}  // namespace text_methods

Method find_text_method(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(text_methods::methods, name, {}, &text_methods::NamedMethod::name);
  return found != std::end(text_methods::methods) && found->name == name ? found->method : nullptr;
}

}  // namespace monomorph::data::jinja
