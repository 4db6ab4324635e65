#include "data/jinja/value_text.hpp"

#include "data/jinja/operators.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::data::jinja {
namespace {

/// Writes values as Python writes them in code.
class Repr {
 public:
  explicit Repr(Budget& budget) : budget_(budget) {}

  std::string of(const Value& value) && {
    write(value);
    return std::move(text_);
  }

 private:
  void write(const Value& value) {
    const Level level(budget_);
    const std::size_t before = text_.size();
    if (const std::string* const text = value.text()) {
      text_ += python::repr_of_text(*text);
    } else if (const Sequence* const sequence = value.sequence()) {
      write_sequence(*sequence);
    } else if (const Dict* const dict = value.dict()) {
      write_dict(*dict);
    } else if (const auto* const view = value.as<DictView>()) {
      write_view(*view);
    } else {
      text_ += value.is_undefined() ? "Undefined" : text_of(budget_, value);
    }
    budget_.make(text_.size() - before);
  }
  void write_sequence(const Sequence& sequence) {
    text_ += sequence.is_tuple ? '(' : '[';
    write_items(sequence.items);
    if (sequence.is_tuple && sequence.items.size() == 1) text_ += ',';
    text_ += sequence.is_tuple ? ')' : ']';
  }
  void write_items(const std::vector<Value>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += ", ";
      write(items[i]);
    }
  }
  void write_dict(const Dict& dict) {
    text_ += '{';
    for (std::size_t i = 0; i < dict.items.size(); ++i) {
      if (i > 0) text_ += ", ";
      write(dict.items[i].first);
      text_ += ": ";
      write(dict.items[i].second);
    }
    text_ += '}';
  }
  void write_view(const DictView& view) {
    constexpr std::string_view names[] = {"dict_keys", "dict_values", "dict_items"};
    text_.append(names[static_cast<std::size_t>(view.part)]).append("([");
    write_items(items_of(budget_, Value(view)));
    text_ += "])";
  }

  Budget& budget_;
  std::string text_;
};

/// Writes values as JSON.
class Json {
 public:
  Json(Budget& budget, const JsonStyle& style) : budget_(budget), style_(style) {}

  std::string of(const Value& value) && {
    write(value);
    return std::move(text_);
  }

 private:
  void write(const Value& value) {
    const Level level(budget_);
    const std::size_t before = text_.size();
    if (value.is_none()) {
      text_ += "null";
    } else if (const auto* const flag = value.as<bool>()) {
      text_ += *flag ? "true" : "false";
    } else if (const auto* const integer = value.as<std::int64_t>()) {
      text_ += std::to_string(*integer);
    } else if (const auto* const number = value.as<double>()) {
      text_ += json_number(*number);
    } else if (const std::string* const text = value.text()) {
      write_text(*text);
    } else if (const Sequence* const sequence = value.sequence()) {
      write_all('[', ']', sequence->items, [&](const Value& item) { write(item); });
    } else if (const Dict* const dict = value.dict()) {
      write_dict(*dict);
    } else {
      fail("{} can't be written as JSON", value.type_name());
    }
    budget_.make(text_.size() - before);
  }
  static std::string json_number(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
    return text_of_real(number);
  }
  template <class Items, class Write> void write_all(char begin, char end, const Items& items, Write write_item) {
    text_ += begin;
    ++level_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) text_ += style_.item_separator;
      new_line();
      write_item(items[i]);
    }
    --level_;
    if (!items.empty()) new_line();
    text_ += end;
  }
  void write_dict(const Dict& dict) {
    auto items = dict.items;
    if (style_.sorts_keys)
      std::ranges::stable_sort(items, [this](const auto& a, const auto& b) {
        return order(budget_, a.first, b.first, "<") < 0;
      });
    write_all('{', '}', items, [&](const auto& item) {
      write_key(item.first);
      text_ += style_.key_separator;
      write(item.second);
    });
  }
  void write_key(const Value& key) {
    if (key.is_text()) return write(key);
    if (!key.is_number() && !key.is_none()) fail("keys of JSON are texts, not {}", key.type_name());
    text_ += '"';
    write(key);
    text_ += '"';
  }
  void new_line() {
    if (!style_.indent) return;
    budget_.make(style_.indent->size(), static_cast<std::size_t>(level_));
    text_ += '\n';
    for (int i = 0; i < level_; ++i) text_ += *style_.indent;
  }
  void write_text(const std::string& text) {
    text_ += '"';
    for_each_character(text, [&](char32_t c, std::string_view bytes) { write_character(c, bytes); });
    text_ += '"';
  }
  void write_character(char32_t c, std::string_view bytes) {
    constexpr std::string_view escaped = "\"\\\n\r\t\f\b", letters = "\"\\nrtfb";
    if (const std::size_t at = c < 0x80 ? escaped.find(static_cast<char>(c)) : std::string_view::npos;
        at != std::string_view::npos) {
      text_.append("\\").append(1, letters[at]);
    } else if (c < 0x20 || (style_.is_ascii && c > 0x7e && c < 0x10000)) {
      text_ += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c));
    } else if (style_.is_ascii && c >= 0x10000) {
      const std::uint32_t above = static_cast<std::uint32_t>(c) - 0x10000;
      text_ += fmt::format("\\u{:04x}\\u{:04x}", 0xd800 + (above >> 10), 0xdc00 + (above & 0x3ff));
    } else {
      text_ += bytes;
    }
  }

  Budget& budget_;
  const JsonStyle& style_;
  std::string text_;
  int level_ = 0;
};

}  // namespace

std::string text_of_real(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string text_of(Budget& budget, const Value& value) {
  if (const std::string* const text = value.text()) return budget.make(text->size()), *text;
  if (value.is_undefined()) return {};
  if (value.is_none()) return "None";
  if (const auto* const flag = value.as<bool>()) return *flag ? "True" : "False";
  if (const auto* const integer = value.as<std::int64_t>()) return std::to_string(*integer);
  if (const auto* const number = value.as<double>()) return text_of_real(*number);
  if (const auto* const range = value.as<Range>())
    return range->step == 1 ? fmt::format("range({}, {})", range->start, range->stop)
                            : fmt::format("range({}, {}, {})", range->start, range->stop, range->step);
  if (value.sequence() != nullptr || value.dict() != nullptr || value.is<DictView>()) return repr_of(budget, value);
  return fmt::format("<{}>", value.type_name());
}

std::string repr_of(Budget& budget, const Value& value) { return Repr(budget).of(value); }

std::string json_of(Budget& budget, const Value& value, const JsonStyle& style) {
  return Json(budget, style).of(value);
}

}  // namespace monomorph::data::jinja
