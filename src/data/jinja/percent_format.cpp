#include "data/jinja/percent_format.hpp"

#include "data/jinja/operators.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <monomorph/core/number_text.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::data::jinja {
namespace {

constexpr std::int64_t widest = 10'000;

/// What stands between % and the letter of a conversion.
struct Conversion {
  bool left = false, zero = false, plus = false, space = false, alternate = false;
  std::size_t width = 0;
  std::optional<int> precision;
  char letter = 's';
};

class PercentFormat {
 public:
  PercentFormat(Budget& budget, const std::string& form, const Value& values)
      : budget_(budget), form_(form), values_(values) {}

  std::string run() && {
    while (at_ < form_.size()) {
      const char c = form_[at_++];
      if (c != '%')
        result_ += c;
      else if (at_ < form_.size() && form_[at_] == '%')
        result_ += form_[at_++];
      else
        convert();
    }
    const Sequence* const tuple = values_.sequence();
    const std::size_t given = tuple != nullptr && tuple->is_tuple ? tuple->items.size() : 1;
    if (!by_name_ && used_ < given && values_.dict() == nullptr) fail("more values than a text has conversions for");
    budget_.make(result_.size());
    return std::move(result_);
  }

 private:
  void convert() {
    std::optional<Value> named;
    if (at_ < form_.size() && form_[at_] == '(') named = take_named();
    const Conversion conversion = take_conversion();
    const Value value = named ? *named : next_value();
    const std::string text = text_by(conversion, value);
    const std::size_t length = python::length_of(text);
    const std::string padding(conversion.width > length ? conversion.width - length : 0, ' ');
    budget_.make(text.size() + padding.size());
    result_ += conversion.left ? text + padding : padding + text;
  }
  Value take_named() {
    const std::size_t end = form_.find(')', at_);
    if (end == std::string::npos) fail("a name in a text to format lacks its )");
    const std::string key = form_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    by_name_ = true;
    const Dict* const dict = values_.dict();
    if (dict == nullptr) fail("a text to format names its values, and is not given a dict");
    const Value* const value = find_value(budget_, *dict, key);
    if (value == nullptr) fail("a text to format names {}, which is not given", python::repr_of_text(key));
    return *value;
  }
  Conversion take_conversion() {
    Conversion result;
    for (; at_ < form_.size(); ++at_) {
      if (form_[at_] == '-')
        result.left = true;
      else if (form_[at_] == '0')
        result.zero = true;
      else if (form_[at_] == '+')
        result.plus = true;
      else if (form_[at_] == ' ')
        result.space = true;
      else if (form_[at_] == '#')
        result.alternate = true;
      else
        break;
    }
    result.width = static_cast<std::size_t>(take_number());
    if (at_ < form_.size() && form_[at_] == '.') {
      ++at_;
      result.precision = static_cast<int>(take_number());
    }
    if (at_ >= form_.size()) fail("a text to format ends within a conversion");
    result.letter = form_[at_++];
    return result;
  }
  std::int64_t take_number() {
    std::int64_t number = 0;
    for (; at_ < form_.size() && form_[at_] >= '0' && form_[at_] <= '9'; ++at_) {
      number = number * 10 + (form_[at_] - '0');
      if (number > widest) fail("a width beyond {} in a text to format", widest);
    }
    return number;
  }
  Value next_value() {
    const Sequence* const tuple = values_.sequence();
    if (tuple != nullptr && tuple->is_tuple) {
      if (used_ >= tuple->items.size()) fail("fewer values than a text has conversions for");
      return tuple->items[used_++];
    }
    if (used_++ > 0) fail("fewer values than a text has conversions for");
    return values_;
  }

  std::string text_by(const Conversion& conversion, const Value& value) {
    switch (conversion.letter) {
      case 's':
        return cut(text_of(budget_, value), conversion);
      case 'r':
        return cut(repr_of(budget_, value), conversion);
      case 'c':
        return value.is_text() ? *value.text() : fail_letter(conversion, value);
      case 'd':
      case 'i':
      case 'u':
        return signed_text(conversion, whole_of(conversion, value), "d");
      case 'x':
        return signed_text(conversion, whole_of(conversion, value), conversion.alternate ? "#x" : "x");
      case 'X':
        return signed_text(conversion, whole_of(conversion, value), conversion.alternate ? "#X" : "X");
      case 'o':
        return signed_text(conversion, whole_of(conversion, value), conversion.alternate ? "#o" : "o");
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return real_text(conversion, value);
      default:
        fail("a text to format has a conversion that is none: %{}", conversion.letter);
    }
  }
  [[noreturn]] std::string fail_letter(const Conversion& conversion, const Value& value) {
    fail("%{} takes no {}", conversion.letter, value.type_name());
  }
  static std::string cut(std::string text, const Conversion& conversion) {
    if (conversion.precision) text.resize(python::offset_of(text, static_cast<std::size_t>(*conversion.precision)));
    return text;
  }
  std::int64_t whole_of(const Conversion& conversion, const Value& value) {
    if (const auto integer = value.integer()) return *integer;
    const auto number = value.number();
    if (!number || conversion.letter == 'x' || conversion.letter == 'o' || !(std::abs(*number) < 9e18))
      fail_letter(conversion, value);
    return static_cast<std::int64_t>(*number);
  }
  static std::string flags_of(const Conversion& conversion) {
    std::string flags = conversion.plus ? "+" : conversion.space ? " " : "";
    if (conversion.alternate && std::string_view("eEfFgG").find(conversion.letter) != std::string_view::npos)
      flags += '#';
    return flags;
  }
  static std::string zeros_of(const Conversion& conversion) {
    return conversion.zero && !conversion.left && conversion.width > 0 ? fmt::format("0{}", conversion.width) : "";
  }
  static std::string signed_text(const Conversion& conversion, std::int64_t value, std::string_view letter) {
    const std::string sign = letter.size() == 2 ? flags_of(conversion) + "#" : flags_of(conversion);
    return fmt::format(fmt::runtime(fmt::format("{{:{}{}{}}}", sign, zeros_of(conversion), letter.back())), value);
  }
  std::string real_text(const Conversion& conversion, const Value& value) {
    const auto number = value.number();
    if (!number) fail_letter(conversion, value);
    return fmt::format(fmt::runtime(fmt::format("{{:{}{}.{}{}}}", flags_of(conversion), zeros_of(conversion),
                                                conversion.precision.value_or(6), conversion.letter)),
                       *number);
  }

  Budget& budget_;
  const std::string& form_;
  const Value& values_;
  std::string result_;
  std::size_t at_ = 0, used_ = 0;
  bool by_name_ = false;
};

}  // namespace

std::string percent_format(Budget& budget, const std::string& form, const Value& values) {
  budget.look(form.size());
  return PercentFormat(budget, form, values).run();
}

std::string brace_format(Budget& budget, const std::string& form, const Arguments& arguments) {
  budget.look(form.size());
  std::string result;
  std::size_t used = 0;
  for (std::size_t at = 0; at < form.size(); ++at) {
    const char c = form[at];
    if ((c == '{' || c == '}') && at + 1 < form.size() && form[at + 1] == c) {
      result += form[at++];
      continue;
    }
    if (c == '}') fail("a text to format has a single '}}'");
    if (c != '{') {
      result += c;
      continue;
    }
    const std::size_t end = form.find('}', at);
    if (end == std::string::npos) fail("a text to format has a single '{{'");
    const std::string field = form.substr(at + 1, end - at - 1);
    const auto number = field.empty() ? std::optional(used++) : number_from<std::size_t>(field);
    const auto named = std::ranges::find(arguments.named, field, &std::pair<std::string, Value>::first);
    if (number ? *number >= arguments.positional.size() : named == arguments.named.end())
      fail("a text to format has the field {{{}}}, for which there is no value", field);
    result += text_of(budget, number ? arguments.positional[*number] : named->second);
    budget.make(result.size());
    at = end;
  }
  return result;
}

}  // namespace monomorph::data::jinja
