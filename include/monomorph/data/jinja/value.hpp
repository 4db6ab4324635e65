#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace monomorph::data::jinja {

class Value;
class Interpreter;
struct Loop;

/// What a template calls with: values in order, then values by name.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

/// A list or a tuple.
struct Sequence {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;                              ///< of what lies in it
  std::span<const std::string_view> names{};  ///< by which a tuple's items are attributes, too, if it has some
};

/// In the order in which keys came.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  int depth = 1;
  const Value* find(std::string_view key) const;  ///< null if there is none
};

/// What `namespace()` makes: the one value that a template may change.
struct Namespace {
  std::vector<std::pair<std::string, Value>> attributes;
};

/// What filters such as `map` make: can be gone through once, counts as true, and has no length.
struct Iterator {
  std::vector<Value> items;
  std::size_t next = 0;
  int depth = 1;
};

struct Range {
  std::int64_t start = 0, stop = 0, step = 1;
  std::int64_t size() const;
};

/// Keys, values or pairs of a dict, as its methods make them.
struct DictView {
  enum class Part : std::uint8_t { keys, values, items };
  std::shared_ptr<const Dict> dict;
  Part part;
};

/// A macro, a method of a value, or a function.
struct Callable {
  std::string name;
  std::function<Value(Interpreter&, const Arguments&)> call;
  int depth = 0;  ///< of the value whose method it is
};

/// A value of a template, as Python has them. Copies share what they hold; only a Namespace and an Iterator change.
class Value {
 public:
  struct Undefined {
    std::shared_ptr<const std::string> why;  ///< what is said when it is used
  };
  struct None {};
  using Text = std::shared_ptr<const std::string>;
  using Data = std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const Sequence>,
                            std::shared_ptr<const Dict>, std::shared_ptr<Namespace>, std::shared_ptr<Iterator>, Range,
                            DictView, std::shared_ptr<const Callable>, std::shared_ptr<Loop>>;

  /// Containers within containers, at most.
  static constexpr int most_depth = 100;
  /// The same of a JSON text. Whoever reads it may put its value into lists and dicts of a message; the arguments of a
  /// call of a tool lie in five: a function, a call, the list of calls, a message and the list of messages.
  static constexpr int most_json_depth = most_depth - 5;

  Value() : data_(None{}) {}
  Value(bool value) : data_(value) {}          // implicit on purpose, as are those of texts and containers:
  Value(std::int64_t value) : data_(value) {}  // what is written into a template's variables reads as a table
  Value(double value) : data_(value) {}
  Value(std::string text) : data_(std::make_shared<const std::string>(std::move(text))) {}
  Value(std::string_view text) : Value(std::string(text)) {}
  Value(const char* text) : Value(std::string(text)) {}
  explicit Value(Data data) : data_(std::move(data)) {}

  static Value undefined(std::string why);
  /// What is deeper than most_depth is an Error [JINJA-03] of the template that makes it. Outside of templates, as
  /// with all four, the caller sees to it that nothing is: no Error is thrown there that anyone would catch.
  static Value list(std::vector<Value> items);
  static Value tuple(std::vector<Value> items);
  /// @param names of the items, which must outlive all
  static Value named_tuple(std::span<const std::string_view> names, std::vector<Value> items);
  /// Makes a dict. Of equal keys the last value counts, at the place of the first.
  static Value dict(std::vector<std::pair<Value, Value>> items);
  static Value iterator(std::vector<Value> items);

  const Data& data() const { return data_; }
  template <class T> bool is() const { return std::holds_alternative<T>(data_); }
  template <class T> const T* as() const { return std::get_if<T>(&data_); }

  bool is_undefined() const { return is<Undefined>(); }
  bool is_none() const { return is<None>(); }
  bool is_text() const { return is<Text>(); }
  bool is_number() const { return is<bool>() || is<std::int64_t>() || is<double>(); }
  const std::string* text() const;
  const Sequence* sequence() const;
  const Dict* dict() const;
  /// The value of a whole number, or of true and false, which are 1 and 0.
  std::optional<std::int64_t> integer() const;
  std::optional<double> number() const;
  int depth() const;
  /// The name of its type in Python.
  std::string_view type_name() const;

 private:
  Data data_;
};

/// The value of a JSON text; numbers beyond 64 bits become floating-point.   @param what the text is, for messages
/// @throws UsageError [JINJA-05] it is no JSON, or deeper than Value::most_json_depth
Value value_of_json(std::string_view text, std::string_view what);

}  // namespace monomorph::data::jinja
