#include "data/jinja/globals.hpp"

#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/value_text.hpp"

#include <array>

namespace monomorph::data::jinja {
namespace global_functions {
namespace {

constexpr std::int64_t longest_range = 100'000;  // as Jinja's sandbox has it

Value range(Interpreter&, const Arguments& arguments) {
  const BoundArguments bound("range", arguments, {"start", "stop", "step"}, 1);
  Range result{0, bound.integer(0, 0), bound.integer(2, 1)};
  if (bound.at(1) != nullptr) result = {bound.integer(0, 0), bound.integer(1, 0), bound.integer(2, 1)};
  if (result.step == 0) fail("the step of range is zero");
  std::int64_t distance = 0;
  if (__builtin_sub_overflow(result.stop, result.start, &distance) || distance == INT64_MIN ||
      result.step == INT64_MIN || result.size() > longest_range)
    fail("range makes more than {} numbers", longest_range);
  return Value(result);
}

std::vector<std::pair<Value, Value>> pairs_of(Budget& budget, std::string_view function, const Arguments& arguments) {
  if (arguments.positional.size() > 1) fail("{} takes one value at most, and others by name", function);
  std::vector<std::pair<Value, Value>> pairs;
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional.front();
    if (const Dict* const dict = from.dict()) {
      pairs = dict->items;
    } else {
      for (const Value& item : items_of(budget, from)) {
        const std::vector<Value> pair = items_of(budget, item);
        if (pair.size() != 2) fail("{} takes pairs of a key and a value", function);
        require_hashable(budget, pair[0]);
        pairs.emplace_back(pair[0], pair[1]);
      }
    }
  }
  for (const auto& [name, value] : arguments.named) pairs.emplace_back(Value(name), value);
  return pairs;
}

Value dict(Interpreter& interpreter, const Arguments& arguments) {
  return dict_of(interpreter.budget(), pairs_of(interpreter.budget(), "dict", arguments));
}

Value name_space(Interpreter& interpreter, const Arguments& arguments) {
  Variables attributes;
  const Value values = dict_of(interpreter.budget(), pairs_of(interpreter.budget(), "namespace", arguments));
  for (const auto& [key, value] : values.dict()->items) {
    if (!key.is_text()) fail("attributes of a namespace have texts as names");
    if (key.text()->starts_with('_')) fail("attributes of a namespace can't begin with an underscore");
    attributes.emplace_back(*key.text(), value);
  }
  return interpreter.new_namespace(std::move(attributes));
}

Value joiner(Interpreter&, const Arguments& arguments) {
  const BoundArguments bound("joiner", arguments, {"sep"});
  return Value(std::make_shared<const Callable>(
      Callable{"joiner",
               [separator = bound.text(0, ", "), is_used = std::make_shared<bool>(false)](Interpreter& interpreter,
                                                                                          const Arguments&) -> Value {
                 interpreter.budget().make(separator.size());
                 return std::exchange(*is_used, true) ? Value(separator) : Value("");
               }}));
}

Value raise_exception(Interpreter& interpreter, const Arguments& arguments) {
  const BoundArguments bound("raise_exception", arguments, {"message"}, 1);
  throw Failure{"JINJA-04", "the template refuses what it is given: " + text_of(interpreter.budget(), bound.value(0))};
}

Value strftime_now(Interpreter& interpreter, const Arguments& arguments) {
  const BoundArguments bound("strftime_now", arguments, {"format"}, 1);
  const std::string& format = bound.text(0);
  constexpr std::size_t longest = 4096;
  if (format.size() > longest / 8) fail("the format of strftime_now is too long");
  const std::time_t now = interpreter.now();
  std::tm parts{};
  localtime_r(&now, &parts);
  std::array<char, longest> text{};
  const std::string marked = format + "#";  // so that a text of no length tells from one that is too long
  const std::size_t n_bytes = std::strftime(text.data(), text.size(), marked.c_str(), &parts);
  if (n_bytes == 0) fail("what strftime_now makes is too long");
  return std::string(text.data(), n_bytes - 1);
}

Value function(const char* name, Value (*call)(Interpreter&, const Arguments&)) {
  return Value(std::make_shared<const Callable>(Callable{name, call}));
}

}  // namespace
}  // namespace global_functions

Value Interpreter::new_namespace(Variables attributes) {
  budget_.make(attributes.size() * sizeof(Variables::value_type) + sizeof(Namespace));
  for (const auto& [name, value] : attributes) budget_.make(name.size());
  namespaces_.push_back(std::make_shared<Namespace>(Namespace{std::move(attributes)}));
  return Value(namespaces_.back());
}

Variables global_variables() {
  return {{"range", global_functions::function("range", global_functions::range)},
          {"dict", global_functions::function("dict", global_functions::dict)},
          {"namespace", global_functions::function("namespace", global_functions::name_space)},
          {"joiner", global_functions::function("joiner", global_functions::joiner)},
          {"raise_exception", global_functions::function("raise_exception", global_functions::raise_exception)},
          {"strftime_now", global_functions::function("strftime_now", global_functions::strftime_now)}};
}

}  // namespace monomorph::data::jinja
