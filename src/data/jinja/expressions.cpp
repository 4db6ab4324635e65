#include "data/jinja/filters.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/methods.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/tests.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {

Value Interpreter::evaluate(const ExpressionPtr& expression) { return evaluate(*expression); }

Value Interpreter::evaluate(const Expression& expression) {
  const Level level(budget_);
  const int line = std::exchange(line_, expression.line);
  Value value = std::visit([this](const auto& form) { return of(form); }, expression.form);
  line_ = line;
  return value;
}

Value Interpreter::of(const Name& name) {
  for (Scope* scope = scope_.get(); scope != nullptr; scope = scope->parent.get()) {
    budget_.search(scope->variables.size());
    if (const Value* const found = scope->find(name.name)) return *found;
  }
  return Value::undefined(fmt::format("{} is undefined", python::repr_of_text(name.name)));
}

Value Interpreter::of(const SequenceLiteral& sequence) {
  budget_.make(sequence.items.size() * sizeof(Value));
  std::vector<Value> items;
  for (const ExpressionPtr& item : sequence.items) items.push_back(evaluate(item));
  return sequence.is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

Value Interpreter::of(const DictLiteral& dict) {
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [key_expression, value_expression] : dict.items) {
    Value key = evaluate(key_expression);
    require_hashable(budget_, key);
    items.emplace_back(std::move(key), evaluate(value_expression));
  }
  return dict_of(budget_, std::move(items));
}

Value Interpreter::of(const AttributeOf& attribute_of) {
  return attribute(evaluate(attribute_of.object), attribute_of.name);
}
Value Interpreter::of(const ItemOf& item_of) {
  const Value object = evaluate(item_of.object);
  return item(object, evaluate(item_of.key));
}

Value Interpreter::of(const Slice& slice) {
  const auto bound = [this](const ExpressionPtr& expression) { return expression ? evaluate(expression) : Value(); };
  const Value object = evaluate(slice.object), start = bound(slice.start), stop = bound(slice.stop);
  return slice_of(budget_, object, start, stop, bound(slice.step));
}

Value Interpreter::of(const Call& call_form) {
  const Value callee = evaluate(call_form.callee);
  return call(callee, arguments_of(call_form.arguments));
}

Value Interpreter::of(const Filter& filter_form) {
  const Value object = filter_form.object ? evaluate(filter_form.object) : block_text_;
  return filter(filter_form.name, object, arguments_of(filter_form.arguments));
}

Value Interpreter::of(const Test& test_form) {
  const Value object = evaluate(test_form.object);
  return test(test_form.name, object, arguments_of(test_form.arguments));
}

Value Interpreter::of(const Unary& unary) {
  const Value operand = evaluate(unary.operand);
  if (unary.op == UnaryOperator::negation) return !is_true(operand);
  if (unary.op == UnaryOperator::negative) return negative(operand);
  require_defined(operand);
  if (!operand.is_number()) fail("+ takes no {}", operand.type_name());
  return operand.integer() ? Value(*operand.integer()) : operand;
}

Value Interpreter::of(const Binary& binary) {
  const Value left = evaluate(binary.left);
  return calculate(budget_, binary.op, left, evaluate(binary.right));
}

Value Interpreter::of(const Comparison& comparison) {
  Value left = evaluate(comparison.first);
  for (const auto& [comparator, expression] : comparison.others) {
    Value right = evaluate(expression);
    if (!compare(budget_, comparator, left, right)) return false;
    left = std::move(right);
  }
  return true;
}

Value Interpreter::of(const Logical& logical) {
  Value left = evaluate(logical.left);
  return is_true(left) == logical.is_and ? evaluate(logical.right) : left;
}

Value Interpreter::of(const Concatenation& concatenation) {
  std::string text;
  for (const ExpressionPtr& part : concatenation.parts) text += text_of(budget_, evaluate(part));
  budget_.make(text.size());
  return text;
}

Value Interpreter::of(const Conditional& conditional) {
  if (is_true(evaluate(conditional.condition))) return evaluate(conditional.then);
  if (conditional.otherwise) return evaluate(conditional.otherwise);
  return Value::undefined("a conditional expression without else has no value");
}

Arguments Interpreter::arguments_of(const CallArguments& arguments) {
  Arguments result;
  for (const ExpressionPtr& value : arguments.positional) result.positional.push_back(evaluate(value));
  for (const auto& [name, value] : arguments.named) result.named.emplace_back(name, evaluate(value));
  if (arguments.more_positional)
    for (Value& value : items_of(budget_, evaluate(arguments.more_positional))) result.positional.push_back(value);
  if (arguments.more_named) {
    const Value more = evaluate(arguments.more_named);
    if (more.dict() == nullptr) fail("** takes a dict, not {}", more.type_name());
    for (const auto& [key, value] : more.dict()->items) {
      if (!key.is_text()) fail("arguments by name have texts as names, not {}", key.type_name());
      budget_.look(key.text()->size() + sizeof(Value));
      result.named.emplace_back(*key.text(), value);
    }
  }
  return result;
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  const Level level(budget_);
  require_defined(callee);
  if (const auto* const callable = callee.as<std::shared_ptr<const Callable>>())
    return (*callable)->call(*this, arguments);
  const auto* const loop = callee.as<std::shared_ptr<Loop>>();
  if (loop == nullptr) fail("{} can't be called", callee.type_name());
  if (!(*loop)->recurse) fail("a loop is called within itself that is not marked as recursive");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) fail("a loop is called with what it goes through");
  return (*loop)->recurse(arguments.positional.front());
}

Value Interpreter::attribute(const Value& object, std::string_view name) {
  require_defined(object);
  if (const auto* const space = object.as<std::shared_ptr<Namespace>>()) budget_.search((*space)->attributes.size());
  if (auto found = attribute_of(object, name)) return *std::move(found);
  if (object.dict() != nullptr)
    if (Value found = item_of(budget_, object, name); !found.is_undefined()) return found;
  return Value::undefined(fmt::format("{} object has no attribute {}", python::repr_of_text(object.type_name()),
                                      python::repr_of_text(name.substr(0, 100))));
}

Value Interpreter::item(const Value& object, const Value& key) {
  Value found = item_of(budget_, object, key);
  if (!found.is_undefined() || !key.is_text()) return found;
  return attribute(object, *key.text());
}

Value Interpreter::filter(std::string_view name, const Value& object, const Arguments& arguments) {
  const Level level(budget_);
  const FilterFunction function = find_filter(name);
  if (function == nullptr) fail("there is no filter {}", name);
  return function(*this, object, arguments);
}

bool Interpreter::test(std::string_view name, const Value& object, const Arguments& arguments) {
  const Level level(budget_);
  const TestFunction function = find_test(name);
  if (function == nullptr) fail("there is no test {}", name);
  return function(*this, object, arguments);
}

}  // namespace monomorph::data::jinja
