#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/filters.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/text_search.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <monomorph/core/number_text.hpp>

#include <algorithm>

namespace monomorph::data::jinja {
namespace list_filtering {
namespace {

/// What an attribute such as "a.b.0" names of an item.
/// @param fallback if not nullptr, what takes the place of each part that is undefined
Value attribute_at(Interpreter& interpreter, Value item, const Value& path, const Value* fallback = nullptr) {
  const auto step = [&](const Value& key) {
    Value found = interpreter.item(item, key);
    return found.is_undefined() && fallback != nullptr ? *fallback : found;
  };
  if (!path.is_text()) return step(path);
  for (const std::string_view part : split_by(*path.text(), ".", -1, false)) {
    const auto number = number_from<std::int64_t>(part);
    item = step(number && *number >= 0 ? Value(*number) : Value(part));
  }
  return item;
}

/// An item, or an attribute of it; texts in lower case if their case doesn't count.
Value key_of(Interpreter& interpreter, const Value& item, const Value* attribute, bool minds_case) {
  Value key = attribute != nullptr ? attribute_at(interpreter, item, *attribute) : item;
  if (minds_case || !key.is_text()) return key;
  interpreter.budget().make(key.text()->size());
  return python::lower(*key.text());
}

Value first(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("first", arguments, {});
  if (const auto* const iterator = value.as<std::shared_ptr<Iterator>>()) {
    Iterator& items = **iterator;
    if (items.next < items.items.size()) return items.items[items.next++];
    return Value::undefined("there is no first item");
  }
  const std::vector<Value> items = items_of(interpreter.budget(), value);
  return items.empty() ? Value::undefined("there is no first item") : items.front();
}

Value last(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("last", arguments, {});
  if (value.is<std::shared_ptr<Iterator>>()) fail("last takes no {}", value.type_name());
  require_defined(value);
  const std::vector<Value> items = items_of(interpreter.budget(), value);
  return items.empty() ? Value::undefined("there is no last item") : items.back();
}

Value list(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("list", arguments, {});
  return Value::list(items_of(interpreter.budget(), value));
}

Value join(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("join", arguments, {"d", "attribute"});
  Budget& budget = interpreter.budget();
  const std::string separator = bound.at(0) == nullptr ? "" : text_of(budget, bound.value(0));
  std::string text;
  bool is_first = true;
  for (const Value& item : items_of(budget, value)) {
    if (!std::exchange(is_first, false)) text += separator;
    budget.make(separator.size());
    text += text_of(budget, bound.some(1) == nullptr ? item : attribute_at(interpreter, item, *bound.some(1)));
  }
  return text;
}

Value map(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  std::vector<Value> results;
  const auto attribute = std::ranges::find(arguments.named, "attribute", &std::pair<std::string, Value>::first);
  if (arguments.positional.empty() && attribute != arguments.named.end()) {
    const Arguments named{{}, arguments.named};
    const BoundArguments bound("map", named, {"attribute", "default"});
    for (const Value& item : items_of(interpreter.budget(), value))
      results.push_back(attribute_at(interpreter, item, bound.value(0), bound.some(1)));
    return Value::iterator(std::move(results));
  }
  if (arguments.positional.empty() || !arguments.positional.front().is_text()) fail("map needs the name of a filter");
  const Arguments others{{arguments.positional.begin() + 1, arguments.positional.end()}, arguments.named};
  for (const Value& item : items_of(interpreter.budget(), value))
    results.push_back(interpreter.filter(*arguments.positional.front().text(), item, others));
  return Value::iterator(std::move(results));
}

/// Items, or those of which an attribute holds, by a test if there is one.
template <bool wanted, bool by_attribute>
Value select(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  constexpr std::size_t n_before = by_attribute ? 1 : 0;
  if (arguments.positional.size() < n_before) fail("selectattr and rejectattr need an attribute");
  const bool has_test = arguments.positional.size() > n_before;
  if (has_test && !arguments.positional[n_before].is_text()) fail("select and reject take the name of a test");
  Arguments others;
  if (has_test) others = {{arguments.positional.begin() + n_before + 1, arguments.positional.end()}, arguments.named};
  std::vector<Value> results;
  for (const Value& item : items_of(interpreter.budget(), value)) {
    const Value asked = by_attribute ? attribute_at(interpreter, item, arguments.positional.front()) : item;
    const bool holds =
        has_test ? interpreter.test(*arguments.positional[n_before].text(), asked, others) : is_true(asked);
    if (holds == wanted) results.push_back(item);
  }
  return Value::iterator(std::move(results));
}

/// Sorts items by keys, each a list of what is compared in turn; equal ones stay in their order.
std::vector<Value> sorted_by(Interpreter& interpreter, std::vector<std::pair<std::vector<Value>, Value>> keyed,
                             bool reverses) {
  for (std::size_t n = keyed.size(); n > 0; n /= 2) interpreter.budget().look(keyed.size() * sizeof(Value));
  Budget& budget = interpreter.budget();
  const auto before = [&](const auto& a, const auto& b) {
    for (std::size_t i = 0; i < a.first.size(); ++i)
      if (!equal(budget, a.first[i], b.first[i])) return order(budget, a.first[i], b.first[i], "<") < 0;
    return false;
  };
  std::ranges::stable_sort(keyed, [&](const auto& a, const auto& b) { return reverses ? before(b, a) : before(a, b); });
  std::vector<Value> items;
  for (auto& [key, item] : keyed) items.push_back(std::move(item));
  return items;
}

Value sort(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("sort", arguments, {"reverse", "case_sensitive", "attribute"});
  std::vector<Value> attributes;
  if (const Value* const given = bound.some(2); given != nullptr && given->is_text()) {
    for (const std::string_view one : split_by(*given->text(), ",", -1, false)) attributes.emplace_back(one);
  } else if (given != nullptr) {
    attributes.push_back(*given);
  }
  std::vector<std::pair<std::vector<Value>, Value>> keyed;
  for (const Value& item : items_of(interpreter.budget(), value)) {
    std::vector<Value> keys;
    for (const Value& attribute : attributes)
      keys.push_back(key_of(interpreter, item, &attribute, bound.flag(1, false)));
    if (attributes.empty()) keys.push_back(key_of(interpreter, item, nullptr, bound.flag(1, false)));
    keyed.emplace_back(std::move(keys), item);
  }
  return Value::list(sorted_by(interpreter, std::move(keyed), bound.flag(0, false)));
}

Value dictsort(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = bound.text(1, "key");
  if (by != "key" && by != "value") fail("dictsort goes by key or value");
  if (value.dict() == nullptr) fail("dictsort takes a dict, not {}", value.type_name());
  std::vector<std::pair<std::vector<Value>, Value>> keyed;
  for (const auto& [key, item] : value.dict()->items) {
    const Value& sorted = by == "key" ? key : item;
    keyed.push_back({{key_of(interpreter, sorted, nullptr, bound.flag(0, false))}, Value::tuple({key, item})});
  }
  return Value::list(sorted_by(interpreter, std::move(keyed), bound.flag(2, false)));
}

Value unique(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> keys, items;
  for (const Value& item : items_of(interpreter.budget(), value)) {
    Value key = key_of(interpreter, item, bound.some(1), bound.flag(0, false));
    interpreter.budget().look(keys.size() * sizeof(Value));
    if (std::ranges::any_of(keys, [&](const Value& other) { return equal(interpreter.budget(), other, key); }))
      continue;
    keys.push_back(std::move(key));
    items.push_back(item);
  }
  return Value::iterator(std::move(items));
}

template <bool wants_most> Value extreme(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("min and max", arguments, {"case_sensitive", "attribute"});
  const std::vector<Value> items = items_of(interpreter.budget(), value);
  if (items.empty()) return Value::undefined("there is no item to choose from");
  const Value* best = nullptr;
  Value best_key;
  for (const Value& item : items) {
    Value key = key_of(interpreter, item, bound.some(1), bound.flag(0, false));
    Budget& budget = interpreter.budget();
    if (best != nullptr &&
        !(wants_most ? order(budget, key, best_key, ">") > 0 : order(budget, key, best_key, "<") < 0))
      continue;
    best = &item;
    best_key = std::move(key);
  }
  return *best;
}

Value sum(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("sum", arguments, {"attribute", "start"});
  Value total = bound.at(1) != nullptr ? bound.value(1) : Value(std::int64_t{0});
  for (const Value& item : items_of(interpreter.budget(), value)) {
    const Value addend = bound.some(0) == nullptr ? item : attribute_at(interpreter, item, *bound.some(0));
    total = calculate(interpreter.budget(), BinaryOperator::add, total, addend);
  }
  return total;
}

Value reverse(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("reverse", arguments, {});
  std::vector<Value> items = items_of(interpreter.budget(), value);
  std::ranges::reverse(items);
  if (!value.is_text()) return Value::iterator(std::move(items));
  std::string text;
  for (const Value& character : items) text += *character.text();
  return text;
}

Value items(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("items", arguments, {});
  if (value.is_undefined()) return Value::iterator({});
  if (value.dict() == nullptr) fail("items takes a dict, not {}", value.type_name());
  const DictView view{*value.as<std::shared_ptr<const Dict>>(), DictView::Part::items};
  return Value::iterator(items_of(interpreter.budget(), Value(view)));
}

Value batch(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("batch", arguments, {"linecount", "fill_with"}, 1);
  const std::int64_t count = bound.integer(0, 1);
  if (count < 1) fail("batch takes a count of 1 or more");
  std::vector<Value> batches, current;
  const auto finish = [&] { batches.push_back(Value::list(std::exchange(current, {}))); };
  for (const Value& item : items_of(interpreter.budget(), value)) {
    if (static_cast<std::int64_t>(current.size()) == count) finish();
    current.push_back(item);
  }
  if (current.empty()) return Value::iterator(std::move(batches));
  if (const Value* const fill = bound.some(1)) {
    const auto missing = static_cast<std::size_t>(count) - current.size();
    interpreter.budget().make(sizeof(Value), missing);
    current.insert(current.end(), missing, *fill);
  }
  finish();
  return Value::iterator(std::move(batches));
}

Value slice(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("slice", arguments, {"slices", "fill_with"}, 1);
  const std::int64_t count = bound.integer(0, 1);
  const std::vector<Value> all = items_of(interpreter.budget(), value);
  if (count < 1) fail("slice takes a count of 1 or more");
  interpreter.budget().make(sizeof(Value), static_cast<std::size_t>(count));
  const auto n = static_cast<std::int64_t>(all.size()), least = n / count, with_one_more = n % count;
  std::vector<Value> slices;
  auto begin = all.begin();
  for (std::int64_t i = 0; i < count; ++i) {
    const auto end = begin + least + (i < with_one_more ? 1 : 0);
    std::vector<Value> current(begin, end);
    if (bound.some(1) != nullptr && i >= with_one_more) current.push_back(*bound.some(1));
    slices.push_back(Value::list(std::move(current)));
    begin = end;
  }
  return Value::iterator(std::move(slices));
}

constexpr std::string_view names_of_group[] = {"grouper", "list"};

Value groupby(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
  std::vector<std::pair<std::vector<Value>, Value>> keyed;
  const auto key_at = [&](const Value& item) { return attribute_at(interpreter, item, bound.value(0), bound.some(1)); };
  for (const Value& item : items_of(interpreter.budget(), value))
    keyed.push_back({{key_of(interpreter, key_at(item), nullptr, bound.flag(2, false))}, item});
  std::vector<std::pair<Value, std::vector<Value>>> groups;
  Value last_key;
  for (const Value& item : sorted_by(interpreter, std::move(keyed), false)) {
    Value key = key_of(interpreter, key_at(item), nullptr, bound.flag(2, false));
    if (groups.empty() || !equal(interpreter.budget(), key, last_key)) groups.push_back({key_at(item), {}});
    groups.back().second.push_back(item);
    last_key = std::move(key);
  }
  std::vector<Value> results;
  for (auto& [key, members] : groups)
    results.push_back(Value::named_tuple(names_of_group, {key, Value::list(std::move(members))}));
  return Value::list(std::move(results));
}

constexpr NamedFilter filters_of_lists[] = {{"batch", batch},
                                            {"dictsort", dictsort},
                                            {"first", first},
                                            {"groupby", groupby},
                                            {"items", items},
                                            {"join", join},
                                            {"last", last},
                                            {"list", list},
                                            {"map", map},
                                            {"max", extreme<true>},
                                            {"min", extreme<false>},
                                            {"reject", select<false, false>},
                                            {"rejectattr", select<false, true>},
                                            {"reverse", reverse},
                                            {"select", select<true, false>},
                                            {"selectattr", select<true, true>},
                                            {"slice", slice},
                                            {"sort", sort},
                                            {"sum", sum},
                                            {"unique", unique}};

}  // namespace
}  // namespace list_filtering

std::span<const NamedFilter> list_filters() { return list_filtering::filters_of_lists; }

}  // namespace monomorph::data::jinja
