#include "data/jinja/operators.hpp"

#include "data/jinja/percent_format.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace monomorph::data::jinja {
namespace {

constexpr std::string_view sign_of(BinaryOperator op) {
  constexpr std::array<std::string_view, 7> signs = {"+", "-", "*", "/", "//", "%", "** or pow()"};
  return signs[static_cast<std::size_t>(op)];
}

[[noreturn]] void fail_operands(BinaryOperator op, const Value& left, const Value& right) {
  fail("{} takes no {} and {}", sign_of(op), left.type_name(), right.type_name());
}

std::int64_t floor_quotient(std::int64_t left, std::int64_t right) {
  const std::int64_t quotient = left / right;
  return left % right != 0 && (left < 0) != (right < 0) ? quotient - 1 : quotient;
}
double python_modulo(double left, double right) {
  const double rest = std::fmod(left, right);
  if (rest == 0) return std::copysign(0.0, right);
  return (rest < 0) != (right < 0) ? rest + right : rest;
}

[[noreturn]] void fail_overflow() { fail("a whole number beyond 64 bits"); }

std::optional<std::int64_t> whole_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t result = 1;
  for (bool overflows = false; exponent > 0; exponent >>= 1) {
    if (exponent & 1) overflows |= __builtin_mul_overflow(result, base, &result);
    if (overflows) return std::nullopt;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return result;
}

Value calculate_whole(BinaryOperator op, std::int64_t left, std::int64_t right) {
  std::int64_t result = 0;
  bool overflows = false;
  const bool divides =
      op == BinaryOperator::divide || op == BinaryOperator::floor_divide || op == BinaryOperator::modulo;
  if (divides && right == 0) fail("division by zero");
  if (divides && right == -1 && op != BinaryOperator::divide) {
    if (op == BinaryOperator::modulo) return std::int64_t{0};
    if (left == INT64_MIN) fail_overflow();
  }
  switch (op) {
    case BinaryOperator::add:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case BinaryOperator::subtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case BinaryOperator::multiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    case BinaryOperator::divide:
      return static_cast<double>(left) / static_cast<double>(right);
    case BinaryOperator::floor_divide:
      return floor_quotient(left, right);
    case BinaryOperator::modulo:
      return left - floor_quotient(left, right) * right;
    case BinaryOperator::power:
      if (right < 0 && left == 0) fail("0 can't be raised to a negative power");
      if (right < 0) return std::pow(static_cast<double>(left), static_cast<double>(right));
      const auto power = whole_power(left, right);
      if (!power) fail_overflow();
      return *power;
  }
  if (overflows) fail_overflow();
  return result;
}

Value calculate_real(BinaryOperator op, double left, double right) {
  const bool divides =
      op == BinaryOperator::divide || op == BinaryOperator::floor_divide || op == BinaryOperator::modulo;
  if (divides && right == 0) fail("division by zero");
  switch (op) {
    case BinaryOperator::add:
      return left + right;
    case BinaryOperator::subtract:
      return left - right;
    case BinaryOperator::multiply:
      return left * right;
    case BinaryOperator::divide:
      return left / right;
    case BinaryOperator::floor_divide:
      return std::floor(left / right);
    case BinaryOperator::modulo:
      return python_modulo(left, right);
    case BinaryOperator::power:
      break;
  }
  if (left == 0 && right < 0) fail("0 can't be raised to a negative power");
  const double result = std::pow(left, right);
  if (std::isnan(result) || (std::isinf(result) && !std::isinf(left) && !std::isinf(right)))
    fail("the power is no real number, or too large");
  return result;
}

Value repeated(Budget& budget, const Value& what, std::int64_t times) {
  const auto count = static_cast<std::size_t>(std::max<std::int64_t>(times, 0));
  if (const std::string* const text = what.text()) {
    budget.make(text->size(), count);
    std::string result;
    result.reserve(text->size() * count);
    for (std::size_t i = 0; i < count && !text->empty(); ++i) result += *text;
    return result;
  }
  const Sequence& sequence = *what.sequence();
  budget.make(sequence.items.size() * sizeof(Value), count);
  std::vector<Value> items;
  for (std::size_t i = 0; i < count && !sequence.items.empty(); ++i)
    items.insert(items.end(), sequence.items.begin(), sequence.items.end());
  return sequence.is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

bool can_repeat(const Value& value) { return value.is_text() || value.sequence() != nullptr; }

Value joined(Budget& budget, const Sequence& left, const Sequence& right) {
  budget.make((left.items.size() + right.items.size()) * sizeof(Value));
  std::vector<Value> items = left.items;
  items.insert(items.end(), right.items.begin(), right.items.end());
  return left.is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
}

std::vector<Value> items_of_view(const DictView& view) {
  std::vector<Value> items;
  for (const auto& [key, value] : view.dict->items) {
    if (view.part == DictView::Part::items)
      items.push_back(Value::tuple({key, value}));
    else
      items.push_back(view.part == DictView::Part::keys ? key : value);
  }
  return items;
}

std::vector<Value> items_of_range(const Range& range) {
  std::vector<Value> items;
  for (std::int64_t i = 0; i < range.size(); ++i) items.emplace_back(range.start + i * range.step);
  return items;
}

/// Index of an item counted from either end; nothing if there is none.
std::optional<std::size_t> place_of(const Value& key, std::size_t size) {
  const auto index = key.integer();
  const auto n = static_cast<std::int64_t>(size);
  if (!index || *index >= n || *index < -n) return std::nullopt;
  return static_cast<std::size_t>(*index < 0 ? *index + n : *index);
}

/// The places that a slice takes: from begin on by steps, and before end.
struct SlicePlaces {
  std::int64_t begin, end, step;
  bool has(std::int64_t at) const { return step < 0 ? at > end : at < end; }

  template <class Visit> void for_each(Visit visit) const {
    for (std::int64_t at = begin; has(at);) {
      visit(static_cast<std::size_t>(at));
      if (__builtin_add_overflow(at, step, &at)) break;
    }
  }
};

SlicePlaces places_of(const Value& start, const Value& stop, const Value& step, std::size_t size) {
  const auto bound = [](const Value& value) -> std::optional<std::int64_t> {
    if (value.is_none()) return std::nullopt;
    if (!value.integer()) fail("a slice goes by whole numbers, not {}", value.type_name());
    return value.integer();
  };
  const std::int64_t by = bound(step).value_or(1), n = static_cast<std::int64_t>(size);
  if (by == 0) fail("the step of a slice is zero");
  const auto clamp = [&](std::int64_t place) {
    return std::clamp(place < 0 ? place + n : place, by < 0 ? std::int64_t{-1} : 0, by < 0 ? n - 1 : n);
  };
  const auto first = bound(start), last = bound(stop);
  return {first ? clamp(*first) : by < 0 ? n - 1 : 0, last ? clamp(*last) : by < 0 ? -1 : n, by};
}

std::int64_t number_at(const Range& range, std::int64_t place) {
  std::int64_t number = 0;
  if (__builtin_mul_overflow(place, range.step, &number) || __builtin_add_overflow(range.start, number, &number))
    fail_overflow();
  return number;
}

/// A slice of a range is one.
Range part_of(const Range& range, const SlicePlaces& places) {
  if (!places.has(places.begin)) return {number_at(range, places.begin), number_at(range, places.begin), 1};
  std::int64_t step = 0;  // of a slice with a larger step than there are places, there is one place
  if (__builtin_mul_overflow(range.step, places.step, &step)) step = range.step;
  return {number_at(range, places.begin), number_at(range, places.end), step};
}

bool is_part_of(Budget& budget, const std::string& container, const Value& item) {
  const std::string* const part = item.text();
  if (part == nullptr) fail("'in <string>' needs a text as its left side, not {}", item.type_name());
  budget.look(container.size());
  return container.find(*part) != std::string::npos;
}

}  // namespace

void require_defined(const Value& value) {
  if (const auto* const undefined = value.as<Value::Undefined>()) fail("{}", *undefined->why);
}

void require_hashable(Budget& budget, const Value& value) {
  budget.step();
  const Sequence* const sequence = value.sequence();
  const bool is_view = value.is<DictView>();  // Python takes those of values, by which object they are
  if (value.dict() != nullptr || is_view || (sequence != nullptr && !sequence->is_tuple))
    fail("a {} can't be a key", value.type_name());
  if (sequence != nullptr)
    for (const Value& item : sequence->items) require_hashable(budget, item);
}

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (const auto number = value.number()) return *number != 0;
  if (const std::string* const text = value.text()) return !text->empty();
  if (const Sequence* const sequence = value.sequence()) return !sequence->items.empty();
  if (const Dict* const dict = value.dict()) return !dict->items.empty();
  if (const auto* const range = value.as<Range>()) return range->size() > 0;
  if (const auto* const view = value.as<DictView>()) return !view->dict->items.empty();
  return true;
}

bool contains(Budget& budget, const Value& container, const Value& item) {
  if (const std::string* const text = container.text()) return is_part_of(budget, *text, item);
  if (const Dict* const dict = container.dict()) return find_value(budget, *dict, item) != nullptr;
  const auto is_item = [&](const Value& one) { return equal(budget, one, item); };
  if (const Sequence* const sequence = container.sequence()) {
    budget.look(sequence->items.size() * sizeof(Value));
    return std::ranges::any_of(sequence->items, is_item);
  }
  if (const auto* const iterator = container.as<std::shared_ptr<Iterator>>()) {
    Iterator& items = **iterator;
    while (items.next < items.items.size()) {
      budget.step();
      if (equal(budget, items.items[items.next++], item)) return true;
    }
    return false;
  }
  return std::ranges::any_of(items_of(budget, container), is_item);
}

bool compare(Budget& budget, Comparator comparator, const Value& left, const Value& right) {
  budget.look((left.is_text() ? left.text()->size() : 0) + static_cast<std::size_t>(left.depth()) * 64);
  switch (comparator) {
    case Comparator::equal:
      return equal(budget, left, right);
    case Comparator::unequal:
      return !equal(budget, left, right);
    case Comparator::less:
      return order(budget, left, right, "<") < 0;
    case Comparator::less_equal:
      return order(budget, left, right, "<=") <= 0;
    case Comparator::greater:
      return order(budget, left, right, ">") > 0;
    case Comparator::greater_equal:
      return order(budget, left, right, ">=") >= 0;
    case Comparator::in:
      return contains(budget, right, left);
    case Comparator::not_in:
      break;
  }
  return !contains(budget, right, left);
}

Value calculate(Budget& budget, BinaryOperator op, const Value& left, const Value& right) {
  require_defined(left);
  if (op == BinaryOperator::modulo && left.is_text()) return percent_format(budget, *left.text(), right);
  require_defined(right);
  if (left.integer() && right.integer()) return calculate_whole(op, *left.integer(), *right.integer());
  if (left.is_number() && right.is_number()) return calculate_real(op, *left.number(), *right.number());
  if (op == BinaryOperator::multiply && can_repeat(left) && right.integer())
    return repeated(budget, left, *right.integer());
  if (op == BinaryOperator::multiply && can_repeat(right) && left.integer())
    return repeated(budget, right, *left.integer());
  if (op != BinaryOperator::add) fail_operands(op, left, right);
  if (left.is_text() && right.is_text()) {
    budget.make(left.text()->size() + right.text()->size());
    return *left.text() + *right.text();
  }
  if (left.sequence() && right.sequence() && left.sequence()->is_tuple == right.sequence()->is_tuple)
    return joined(budget, *left.sequence(), *right.sequence());
  fail_operands(op, left, right);
}

Value negative(const Value& value) {
  require_defined(value);
  if (const auto integer = value.integer()) {
    if (*integer == INT64_MIN) fail_overflow();
    return -*integer;
  }
  if (const auto number = value.number()) return -*number;
  fail("- takes no {}", value.type_name());
}

std::vector<Value> items_of(Budget& budget, const Value& value) {
  if (value.is_undefined()) return {};
  std::vector<Value> items;
  if (const std::string* const text = value.text()) {
    budget.make(python::length_of(*text) * sizeof(Value));
    for (const std::string_view character : python::characters_of(*text)) items.emplace_back(character);
  } else if (const Sequence* const sequence = value.sequence()) {
    budget.look(sequence->items.size() * sizeof(Value));
    items = sequence->items;
  } else if (const Dict* const dict = value.dict()) {
    budget.look(dict->items.size() * sizeof(Value));
    for (const auto& [key, item] : dict->items) items.push_back(key);
  } else if (const auto* const iterator = value.as<std::shared_ptr<Iterator>>()) {
    items.assign((*iterator)->items.begin() + static_cast<std::ptrdiff_t>((*iterator)->next), (*iterator)->items.end());
    (*iterator)->next = (*iterator)->items.size();
    budget.look(items.size() * sizeof(Value));
  } else if (const auto* const range = value.as<Range>()) {
    budget.look(static_cast<std::size_t>(range->size()) * sizeof(Value));
    items = items_of_range(*range);
  } else if (const auto* const view = value.as<DictView>()) {
    budget.make(view->dict->items.size() * sizeof(Value) * 4);
    items = items_of_view(*view);
  } else {
    fail("{} can't be gone through", value.type_name());
  }
  return items;
}

std::size_t size_of(Budget& budget, const Value& value) {
  if (value.is_undefined()) return 0;
  if (const std::string* const text = value.text()) return budget.look(text->size()), python::length_of(*text);
  if (const Sequence* const sequence = value.sequence()) return sequence->items.size();
  if (const Dict* const dict = value.dict()) return dict->items.size();
  if (const auto* const range = value.as<Range>()) return static_cast<std::size_t>(range->size());
  if (const auto* const view = value.as<DictView>()) return view->dict->items.size();
  fail("{} has no length", value.type_name());
}

Value item_of(Budget& budget, const Value& object, const Value& key) {
  require_defined(object);
  budget.step();
  if (const Dict* const dict = object.dict()) {
    if (const Value* const found = find_value(budget, *dict, key)) return *found;
  } else if (const Sequence* const sequence = object.sequence()) {
    if (const auto place = place_of(key, sequence->items.size())) return sequence->items[*place];
  } else if (const std::string* const text = object.text()) {
    budget.look(text->size());
    if (const auto place = place_of(key, python::length_of(*text))) {
      const std::string_view rest = std::string_view(*text).substr(python::offset_of(*text, *place));
      return rest.substr(0, first_character(rest).n_bytes);
    }
  } else if (const auto* const range = object.as<Range>()) {
    if (const auto place = place_of(key, static_cast<std::size_t>(range->size())))
      return range->start + static_cast<std::int64_t>(*place) * range->step;
  }
  return Value::undefined(fmt::format("the {} has no such element", object.type_name()));
}

Value slice_of(Budget& budget, const Value& object, const Value& start, const Value& stop, const Value& step) {
  require_defined(object);
  if (const Sequence* const sequence = object.sequence()) {
    std::vector<Value> items;
    budget.look(sequence->items.size());
    places_of(start, stop, step, sequence->items.size()).for_each([&](std::size_t place) {
      items.push_back(sequence->items[place]);
    });
    budget.make(items.size() * sizeof(Value));
    return sequence->is_tuple ? Value::tuple(std::move(items)) : Value::list(std::move(items));
  }
  if (const std::string* const text = object.text()) {
    const auto characters = python::characters_of(*text);
    budget.make(text->size());
    std::string result;
    places_of(start, stop, step, characters.size()).for_each([&](std::size_t place) { result += characters[place]; });
    return result;
  }
  if (const auto* const range = object.as<Range>())
    return Value(part_of(*range, places_of(start, stop, step, static_cast<std::size_t>(range->size()))));
  return Value::undefined(fmt::format("a slice of a {}", object.type_name()));
}

}  // namespace monomorph::data::jinja
