#include "core/json_assign.hpp"
#include "core/json_paths.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/hparams.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace monomorph {
namespace {

using nlohmann::json;

/// Walks over the text and tells how far the parser has come: its events carry no positions.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, std::size_t& n_consumed) : at_(at), n_consumed_(&n_consumed) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    ++at_;
    ++*n_consumed_;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }

 private:
  const char* at_;
  std::size_t* n_consumed_;
};

/// The reason in an exception of nlohmann, without its name, position and surprises for a terminal.
std::string reason_of(const char* what) {
  std::string_view reason = what;
  for (const std::string_view end_of_prefix : {"] ", "column "}) {
    const std::size_t found = reason.find(end_of_prefix);
    if (found != std::string_view::npos) reason.remove_prefix(found + end_of_prefix.size());
  }
  const std::size_t after_position = reason.find_first_not_of("0123456789");
  if (after_position > 0 && reason.substr(after_position).starts_with(": ")) reason.remove_prefix(after_position + 2);
  constexpr std::size_t longest = 160;
  std::string line(reason.substr(0, longest));
  std::ranges::replace_if(
      line, [](char character) { return static_cast<unsigned char>(character) - 0x20u > 0x5eu; }, '?');
  return line;
}

/// Receives the parser's events and fills the fields. A value that is not a field's is refused at its first token, so
/// nothing nests deeper than the sections do.
class FieldReader {
 public:
  FieldReader(std::span<const FieldRef> fields, std::string_view text, std::string where)
      : fields_(fields), text_(text), where_(std::move(where)) {}

  void read() {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) fail("the file is empty");
    if (const auto nul = find_nul(text_))
      fail_at(nul->line, fmt::format("there is a NUL byte in column {}", nul->column));
    const CountingIterator begin(text_.data(), n_consumed_);
    const CountingIterator end(text_.data() + text_.size(), n_consumed_);
    json::sax_parse(begin, end, this);
  }

  // The parser's interface.
  bool null() { return take(JsonOther{"null"}); }
  bool boolean(bool value) { return take(value); }
  bool number_integer(std::int64_t value) { return take(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > INT64_MAX) return take(JsonReal{static_cast<double>(value), std::to_string(value)});
    return take(static_cast<std::int64_t>(value));
  }
  bool number_float(double value, const std::string& text) { return take(JsonReal{value, text}); }
  bool string(std::string& value) { return take(value); }
  bool binary(json::binary_t&) { return false; }
  bool start_object(std::size_t) {
    if (list_) return list_->begin_object(location(line())), true;
    if (field_ != nullptr) return take(JsonOther{"an object"});
    if (inside_) section_ = key_ + ".";
    inside_ = true;
    return true;
  }
  bool end_object() {
    if (list_) return list_->end_object(location(line())), true;
    if (section_.empty()) return true;
    section_.pop_back();
    section_.resize(section_.rfind('.') + 1);  // npos + 1 is 0: back at the top
    key_.clear();
    return true;
  }
  bool start_array(std::size_t) {
    if (list_ || field_ == nullptr || !std::holds_alternative<WeightedPaths*>(field_->target))
      return take(JsonOther{"an array"});
    list_.emplace(*field_);
    return true;
  }
  bool end_array() {
    list_->end_array(location(line()));  // no other array gets as far as its end
    list_.reset();
    field_ = nullptr;
    return true;
  }
  bool key(std::string& name);
  bool parse_error(std::size_t, const std::string&, const json::exception& error) {
    if (dynamic_cast<const json::out_of_range*>(&error) != nullptr && field_ != nullptr) {
      reject_range(*field_, "a number that is too large for any computer format", location(line()));
    }
    fail(reason_of(error.what()));
  }

 private:
  bool take(const JsonScalar& value);
  [[noreturn]] void fail(std::string_view reason) const { fail_at(line(), reason); }
  [[noreturn]] void fail_at(std::size_t line, std::string_view reason) const {
    const std::string near = key_.empty() ? "" : ", at or after " + key_;
    throw UsageError(
        fmt::format("[HPARAM-05] a hyperparameter file must be one JSON object ({}{}): {}; correct the text "
                    "there",
                    location(line), near, reason));
  }
  /// The line of the last character read but one, as the parser may have looked one character ahead.
  std::size_t line() const {
    const std::string_view before = text_.substr(0, n_consumed_ > 0 ? n_consumed_ - 1 : 0);
    return 1 + static_cast<std::size_t>(std::ranges::count(before, '\n'));
  }
  std::string location(std::size_t line) const { return fmt::format("{}:{}", where_, line); }

  std::span<const FieldRef> fields_;
  std::string_view text_;
  std::string where_;
  std::size_t n_consumed_ = 0;
  bool inside_ = false;  ///< the outermost object has begun
  std::string section_;  ///< with a dot at its end; empty at the top
  std::string key_;      ///< dotted
  std::size_t key_line_ = 0;
  const FieldRef* field_ = nullptr;           ///< whose value comes next
  std::optional<PathListReader> list_;        ///< while the value of field_ is an array
  std::map<std::string, std::size_t> lines_;  ///< where each key was given
};

bool FieldReader::key(std::string& name) {
  if (list_) return list_->key(name, location(line())), true;
  key_ = section_ + name;
  key_line_ = line();
  if (name.find('.') != std::string::npos) {
    throw UsageError(
        fmt::format("[HPARAM-01] {} must not have a dot ({}); write the part before it as an object: "
                    "{{\"optimizer\": {{\"lr\": 3e-4}}}}",
                    in_quotes(name), location(key_line_)));
  }
  const auto found = std::ranges::find(fields_, key_, &FieldRef::name);
  field_ = found == fields_.end() ? nullptr : &*found;
  const bool is_section =
      std::ranges::any_of(fields_, [&](const FieldRef& field) { return field.name.starts_with(key_ + "."); });
  if (field_ == nullptr && !is_section) reject_key(fields_, key_, location(key_line_));
  const auto [first, is_new] = lines_.emplace(key_, key_line_);
  if (!is_new) {
    throw UsageError(fmt::format("[HPARAM-04] {} must be given once ({}, and before in line {}); remove one", key_,
                                 location(key_line_), first->second));
  }
  return true;
}

bool FieldReader::take(const JsonScalar& value) {
  if (!inside_) fail("it begins with something else");
  if (list_) return list_->value(value, location(line())), true;
  if (field_ == nullptr) {
    throw UsageError(fmt::format("[HPARAM-02] {} must be an object of hyperparameters ({}); write \"{}\": {{ ... }}",
                                 key_, location(key_line_), key_.substr(key_.rfind('.') + 1)));
  }
  assign(*field_, value, location(key_line_));
  field_ = nullptr;
  return true;
}

/// A field's value as a file has it: the objects of its sections around it.
std::string nested(std::string_view name, const std::string& value) {
  std::string text;
  for (std::size_t begin = 0, dot = 0; dot != std::string_view::npos; begin = dot + 1) {
    dot = name.find('.', begin);
    text += "{" + json_string(name.substr(begin, dot - begin)) + ": ";
  }
  return text + value + std::string(static_cast<std::size_t>(std::ranges::count(name, '.')) + 1, '}');
}

/// Receives a single number, true or false, all else being no scalar.
JsonScalar parse_scalar(const std::string& text) {
  const json value = parsed_json(text);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return JsonReal{value.get<double>(), text};
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_number_float()) return JsonReal{value.get<double>(), text};
  return text;
}

}  // namespace

void read_fields(std::span<const FieldRef> fields, std::string_view json, const std::string& where) {
  FieldReader(fields, json, where).read();
}

void set_field(std::span<const FieldRef> fields, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UsageError(
        fmt::format("[HPARAM-06] --set must be given as section.name=value, not {}; for example --set "
                    "optimizer.lr=3e-4",
                    in_quotes(assignment)));
  }
  const std::string_view name = assignment.substr(0, equals);
  const std::string text(assignment.substr(equals + 1));
  const auto field = std::ranges::find(fields, name, &FieldRef::name);
  if (field == fields.end()) reject_key(fields, name, "--set");
  const bool is_list = std::holds_alternative<WeightedPaths*>(field->target);
  const bool is_text =
      is_list || std::holds_alternative<std::string*>(field->target) || std::holds_alternative<EnumRef>(field->target);
  if (!is_utf8(text)) reject_type(*field, "text that is not UTF-8", "--set");
  if (is_list && text.starts_with('[')) {
    if (parsed_json(text).is_discarded()) reject_type(*field, "an array that JSON can't have", "--set");
    return read_fields(fields, nested(name, text), "--set");
  }
  assign(*field, is_text ? JsonScalar(text) : parse_scalar(text), "--set");
}

}  // namespace monomorph
