#include "core/json_assign.hpp"
#include "core/json_named_paths.hpp"
#include "core/json_paths.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/hparams.hpp>
#include <monomorph/core/mistakes.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

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

/// What is most like it was probably meant. A file of a million such keys is not worth so many comparisons.
void refuse_unknown_key(std::span<const FieldRef> fields, std::string_view dotted, const std::string& where,
                        Mistakes& mistakes) {
  if (mistakes.is_full()) {
    mistakes.count();
    return;
  }
  const std::string nearest = nearest_key(fields, dotted);
  mistakes.check([&] { reject_key(dotted, nearest, where); });
  if (is_likely(dotted, nearest)) mistakes.doubt(nearest);
}

/// Receives the parser's events and fills the fields. Each mistake is told, and the value that it is about passed over
/// with all that it holds, which is counted and not kept: nothing nests deeper than the sections do.
class FieldReader {
 public:
  FieldReader(std::span<const FieldRef> fields, std::string_view text, std::string where, Mistakes& mistakes)
      : fields_(fields), text_(text), where_(std::move(where)), mistakes_(mistakes) {}

  void read() {
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) {
      fail("the file is empty");
      return;
    }
    if (const auto nul = find_nul(text_)) {
      fail_at(nul->line, fmt::format("there is a NUL byte in column {}", nul->column));
      return;
    }
    const CountingIterator begin(text_.data(), n_consumed_);
    const CountingIterator end(text_.data() + text_.size(), n_consumed_);
    json::sax_parse(begin, end, this);
  }

  // The parser's interface. It goes on while they return true.
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
  bool start_object(std::size_t);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool key(std::string& name);
  bool parse_error(std::size_t, const std::string&, const json::exception& error);

 private:
  bool take(const JsonScalar& value);
  bool pass_over(std::string_view what);
  bool passes_over_beginning();
  bool passes_over_end();
  bool accepts_key(const std::string& name);
  bool fail(std::string_view reason) { return fail_at(line(), reason); }
  bool fail_at(std::size_t line, std::string_view reason);

  bool check(std::string_view name, const std::function<void()>& act) {
    const bool right = mistakes_.check(act);
    if (!right) mistakes_.doubt(name);
    return right;
  }
  /// The line of the last character read but one, as the parser may have looked one character ahead.
  std::size_t line() {
    const std::size_t end = n_consumed_ > 0 ? n_consumed_ - 1 : 0;
    line_ += static_cast<std::size_t>(std::ranges::count(text_.substr(n_counted_, end - n_counted_), '\n'));
    n_counted_ = end;
    return line_;
  }
  std::string location(std::size_t line) const { return fmt::format("{}:{}", where_, line); }

  std::span<const FieldRef> fields_;
  std::string_view text_;
  std::string where_;
  Mistakes& mistakes_;
  std::size_t n_consumed_ = 0;
  std::size_t n_counted_ = 0, line_ = 1;  ///< of the characters whose lines are counted
  bool inside_ = false;                   ///< the outermost object has begun
  std::string section_;                   ///< with a dot at its end; empty at the top
  std::string key_;                       ///< dotted
  std::size_t key_line_ = 0;
  const FieldRef* field_ = nullptr;           ///< whose value comes next
  std::optional<PathListReader> list_;        ///< while the value of field_ is an array
  std::optional<NamedPathReader> names_;      ///< while it is an object
  std::map<std::string, std::size_t> lines_;  ///< where each key was given
  bool passes_over_next_ = false;             ///< the value that comes next
  std::size_t passed_depth_ = 0;              ///< arrays and objects that are open in a value that is passed over
};

bool FieldReader::fail_at(std::size_t line, std::string_view reason) {
  const std::string near = key_.empty() ? "" : ", at or after " + in_quotes(key_);
  return check("", [&] {
    throw UsageError("HPARAM-05",
                     fmt::format("a hyperparameter file must be one JSON object ({}{}): {}; correct the text "
                                 "there",
                                 location(line), near, reason));
  });
}

bool FieldReader::parse_error(std::size_t, const std::string&, const json::exception& error) {
  const bool is_of_field = field_ != nullptr && passed_depth_ == 0;
  if (!is_of_field || dynamic_cast<const json::out_of_range*>(&error) == nullptr)
    return fail(json_reason(error.what()));
  return check("", [&] {  // the parser does not go on: nothing is known of what follows
    reject_range(*field_, "a number that is too large for any computer format", location(line()));
  });
}

bool FieldReader::passes_over_beginning() {
  if (passed_depth_ == 0 && !std::exchange(passes_over_next_, false)) return false;
  ++passed_depth_;
  return true;
}

bool FieldReader::passes_over_end() {
  if (passed_depth_ == 0) return false;
  --passed_depth_;
  return true;
}

/// An array or object that has begun where it has no place.
bool FieldReader::pass_over(std::string_view what) {
  if (!take(JsonOther{what})) return false;
  passed_depth_ = 1;
  return true;
}

bool FieldReader::start_object(std::size_t) {
  if (passes_over_beginning()) return true;
  if (list_) {
    if (!check(field_->name, [&] { list_->begin_object(location(line())); })) passed_depth_ = 1;
    return true;
  }
  if (field_ != nullptr) {
    if (names_ || !std::holds_alternative<NamedPaths*>(field_->target)) return pass_over("an object");
    names_.emplace(*field_);
    return true;
  }
  if (inside_) section_ = key_ + ".";
  inside_ = true;
  return true;
}

bool FieldReader::end_object() {
  if (passes_over_end()) return true;
  if (list_) {
    check(field_->name, [&] { list_->end_object(location(line())); });
    return true;
  }
  if (names_) {
    check(field_->name, [&] { names_->end(location(line())); });
    names_.reset();
    field_ = nullptr;
    return true;
  }
  if (section_.empty()) return true;
  section_.pop_back();
  section_.resize(section_.rfind('.') + 1);  // npos + 1 is 0: back at the top
  key_.clear();
  return true;
}

bool FieldReader::start_array(std::size_t) {
  if (passes_over_beginning()) return true;
  if (list_ || names_ || field_ == nullptr || !std::holds_alternative<WeightedPaths*>(field_->target))
    return pass_over("an array");
  list_.emplace(*field_);
  return true;
}

bool FieldReader::end_array() {
  if (passes_over_end()) return true;
  check(field_->name, [&] { list_->end_array(location(line())); });
  list_.reset();
  field_ = nullptr;
  return true;
}

bool FieldReader::key(std::string& name) {
  if (passed_depth_ > 0) return true;
  if (list_) {
    passes_over_next_ = !check(field_->name, [&] { list_->key(name, location(line())); });
    return true;
  }
  if (names_) {
    passes_over_next_ = !check(field_->name, [&] { names_->name(name, location(line())); });
    return true;
  }
  key_ = section_ + name;
  key_line_ = line();
  passes_over_next_ = !accepts_key(name);
  if (passes_over_next_) field_ = nullptr;
  return true;
}

bool FieldReader::accepts_key(const std::string& name) {
  if (name.find('.') != std::string::npos) {
    return check(key_, [&] {
      throw UsageError("HPARAM-01", fmt::format("{} must not have a dot ({}); write the part before it as an object: "
                                                "{{\"optimizer\": {{\"lr\": 3e-4}}}}",
                                                in_quotes(name), location(key_line_)));
    });
  }
  const auto found = std::ranges::find(fields_, key_, &FieldRef::name);
  field_ = found == fields_.end() ? nullptr : &*found;
  const bool is_section = std::ranges::any_of(fields_, [section = key_ + "."](const FieldRef& field) {
    return field.name.starts_with(section);
  });
  if (field_ == nullptr && !is_section) {
    refuse_unknown_key(fields_, key_, location(key_line_), mistakes_);
    return false;
  }
  const auto [first, is_new] = lines_.emplace(key_, key_line_);
  return is_new || check(key_, [&, first = first->second] {
           throw UsageError("HPARAM-04", fmt::format("{} must be given once ({}, and before in line {}); remove one",
                                                     key_, location(key_line_), first));
         });
}

bool FieldReader::take(const JsonScalar& value) {
  if (passed_depth_ > 0 || std::exchange(passes_over_next_, false)) return true;
  if (!inside_) return fail("it begins with something else");
  if (list_) {
    check(field_->name, [&] { list_->value(value, location(line())); });
  } else if (names_) {
    check(field_->name, [&] { names_->value(value, location(line())); });
  } else if (field_ != nullptr) {
    check(field_->name, [&] { assign(*field_, value, location(key_line_)); });
    field_ = nullptr;
  } else {
    check(key_, [&] {
      throw UsageError("HPARAM-02", fmt::format("{} must be an object of hyperparameters ({}); write \"{}\": {{ ... }}",
                                                key_, location(key_line_), key_.substr(key_.rfind('.') + 1)));
    });
  }
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

/// What stands behind `--set name=`.
void set_value(std::span<const FieldRef> fields, const FieldRef& field, const std::string& text, Mistakes& mistakes) {
  const bool is_list = std::holds_alternative<WeightedPaths*>(field.target),
             has_names = std::holds_alternative<NamedPaths*>(field.target);
  const bool is_json = (is_list && text.starts_with('[')) || (has_names && text.starts_with('{'));
  const bool is_text = is_list || has_names || std::holds_alternative<std::string*>(field.target) ||
                       std::holds_alternative<EnumRef>(field.target);
  const bool right = mistakes.check([&] {
    if (!is_utf8(text)) reject_type(field, "text that is not UTF-8", "--set");
    if (is_json && !json::accept(text))
      reject_type(field, is_list ? "an array that JSON can't have" : "an object that JSON can't have", "--set");
    if (!is_json) assign(field, is_text ? JsonScalar(text) : parse_scalar(text), "--set");
  });
  if (!right) mistakes.doubt(field.name);
  if (right && is_json) read_fields(fields, nested(field.name, text), "--set", mistakes);
}

}  // namespace

void read_fields(std::span<const FieldRef> fields, std::string_view json, const std::string& where,
                 Mistakes& mistakes) {
  FieldReader(fields, json, where, mistakes).read();
}

void read_fields(std::span<const FieldRef> fields, std::string_view json, const std::string& where) {
  Mistakes mistakes;
  read_fields(fields, json, where, mistakes);
  mistakes.throw_if_any();
}

void set_field(std::span<const FieldRef> fields, std::string_view assignment, Mistakes& mistakes) {
  const std::size_t equals = assignment.find('=');
  const std::string_view name = assignment.substr(0, equals);
  if (equals == std::string_view::npos || equals == 0) {
    mistakes.check([&] {
      throw UsageError("HPARAM-06", fmt::format("--set must be given as section.name=value, not {}; for example --set "
                                                "optimizer.lr=3e-4",
                                                in_quotes(assignment)));
    });
    if (!name.empty()) mistakes.doubt(name);
    return;
  }
  const auto field = std::ranges::find(fields, name, &FieldRef::name);
  if (field == fields.end()) return refuse_unknown_key(fields, name, "--set", mistakes);
  set_value(fields, *field, std::string(assignment.substr(equals + 1)), mistakes);
}

void set_field(std::span<const FieldRef> fields, std::string_view assignment) {
  Mistakes mistakes;
  set_field(fields, assignment, mistakes);
  mistakes.throw_if_any();
}

}  // namespace monomorph
