#include "data/jinja/tests.hpp"

#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/filters.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {
namespace test_functions {
namespace {

template <bool (*holds)(const Value&)> bool plain(Interpreter&, const Value& value, const Arguments& arguments) {
  BoundArguments("this test", arguments, {});
  return holds(value);
}

template <Comparator comparator>
bool compared(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("a comparison", arguments, {"other"}, 1);
  return compare(interpreter.budget(), comparator, value, bound.value(0));
}

bool divisible(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("divisibleby", arguments, {"num"}, 1);
  return equal(calculate(interpreter.budget(), BinaryOperator::modulo, value, bound.value(0)), std::int64_t{0});
}

template <std::int64_t rest> bool parity(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("even and odd", arguments, {});
  return equal(calculate(interpreter.budget(), BinaryOperator::modulo, value, std::int64_t{2}), rest);
}

bool same(Interpreter&, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("sameas", arguments, {"other"}, 1);
  return is_same(value, bound.value(0));
}

const std::string& name_in(const Value& value) {
  if (!value.is_text()) fail("a name is a text, not {}", value.type_name());
  return *value.text();
}

bool is_boolean(const Value& value) { return value.is<bool>(); }
bool is_callable(const Value& value) {
  return value.is_undefined() || value.is<std::shared_ptr<const Callable>>() || value.is<std::shared_ptr<Loop>>();
}
bool is_defined(const Value& value) { return !value.is_undefined(); }
bool is_undefined(const Value& value) { return value.is_undefined(); }
bool is_escaped(const Value&) { return false; }
bool is_false(const Value& value) { return value.is<bool>() && !is_true(value); }
bool is_really_true(const Value& value) { return value.is<bool>() && is_true(value); }
bool is_float(const Value& value) { return value.is<double>(); }
bool is_integer(const Value& value) { return value.is<std::int64_t>(); }
bool is_number(const Value& value) { return value.is_number(); }
bool is_none(const Value& value) { return value.is_none(); }
bool is_string(const Value& value) { return value.is_text(); }
bool is_mapping(const Value& value) { return value.dict() != nullptr; }
bool is_sequence(const Value& value) {
  return value.is_undefined() || value.is_text() || value.sequence() != nullptr || value.dict() != nullptr ||
         value.is<Range>();
}
bool is_iterable(const Value& value) {
  return is_sequence(value) || value.is<std::shared_ptr<Iterator>>() || value.is<DictView>() ||
         value.is<std::shared_ptr<Loop>>();
}
bool is_filter(const Value& value) { return find_filter(name_in(value)) != nullptr; }
bool is_test(const Value& value) { return find_test(name_in(value)) != nullptr; }

template <bool wants_upper> bool is_cased(Interpreter& interpreter, const Value& value, const Arguments&) {
  const Value text = interpreter.filter("string", value, {});
  return is_true(interpreter.call(interpreter.attribute(text, wants_upper ? "isupper" : "islower"), {}));
}

struct NamedTest {
  std::string_view name;
  TestFunction function;
};
constexpr NamedTest tests[] = {{"!=", compared<Comparator::unequal>},
                               {"<", compared<Comparator::less>},
                               {"<=", compared<Comparator::less_equal>},
                               {"==", compared<Comparator::equal>},
                               {">", compared<Comparator::greater>},
                               {">=", compared<Comparator::greater_equal>},
                               {"boolean", plain<is_boolean>},
                               {"callable", plain<is_callable>},
                               {"defined", plain<is_defined>},
                               {"divisibleby", divisible},
                               {"eq", compared<Comparator::equal>},
                               {"equalto", compared<Comparator::equal>},
                               {"escaped", plain<is_escaped>},
                               {"even", parity<0>},
                               {"false", plain<is_false>},
                               {"filter", plain<is_filter>},
                               {"float", plain<is_float>},
                               {"ge", compared<Comparator::greater_equal>},
                               {"greaterthan", compared<Comparator::greater>},
                               {"gt", compared<Comparator::greater>},
                               {"in", compared<Comparator::in>},
                               {"integer", plain<is_integer>},
                               {"iterable", plain<is_iterable>},
                               {"le", compared<Comparator::less_equal>},
                               {"lessthan", compared<Comparator::less>},
                               {"lower", is_cased<false>},
                               {"lt", compared<Comparator::less>},
                               {"mapping", plain<is_mapping>},
                               {"ne", compared<Comparator::unequal>},
                               {"none", plain<is_none>},
                               {"number", plain<is_number>},
                               {"odd", parity<1>},
                               {"sameas", same},
                               {"sequence", plain<is_sequence>},
                               {"string", plain<is_string>},
                               {"test", plain<is_test>},
                               {"true", plain<is_really_true>},
                               {"undefined", plain<is_undefined>},
                               {"upper", is_cased<true>}};

}  // namespace
}  // namespace test_functions

TestFunction find_test(std::string_view name) {
  const auto* const found = std::ranges::lower_bound(test_functions::tests, name, {}, &test_functions::NamedTest::name);
  return found != std::end(test_functions::tests) && found->name == name ? found->function : nullptr;
}

}  // namespace monomorph::data::jinja
