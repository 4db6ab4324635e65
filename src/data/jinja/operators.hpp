#pragma once
#include "data/jinja/budget.hpp"
#include "data/jinja/syntax.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <compare>

namespace monomorph::data::jinja {

// What Python's operators make of values. All throw Failure where Python raises an exception.

bool is_true(const Value& value);
/// Of values in which none lies twice, as those of JSON: a template's may hold others twice, and these others, too.
bool equal(const Value& left, const Value& right);
bool equal(Budget& budget, const Value& left, const Value& right);
/// Whether both are the same key of a dict. What lies in them is counted, but not that they are compared: whoever goes
/// through a dict's keys counts these.   @param budget null for values in which none lies twice
bool equal_keys(Budget* budget, const Value& left, const Value& right);
/// Whether it is the same list, tuple, dict or object, or an equal value of the same type.
bool is_same(const Value& left, const Value& right);
/// @param sign of the operator that asks, for the message
std::partial_ordering order(Budget& budget, const Value& left, const Value& right, std::string_view sign);
/// What a dict has by a key; null if it has nothing.
const Value* find_value(Budget& budget, const Dict& dict, const Value& key);
/// As Value::dict(), of keys that a template has made.
Value dict_of(Budget& budget, std::vector<std::pair<Value, Value>> items);
bool contains(Budget& budget, const Value& container, const Value& item);
bool compare(Budget& budget, Comparator comparator, const Value& left, const Value& right);
Value calculate(Budget& budget, BinaryOperator op, const Value& left, const Value& right);
Value negative(const Value& value);

/// Whatever a loop goes through; an Iterator is used up.   @throws Failure it is nothing of the kind
std::vector<Value> items_of(Budget& budget, const Value& value);
/// As len().
std::size_t size_of(Budget& budget, const Value& value);

/// object[key]; undefined if there is no such thing.
Value item_of(Budget& budget, const Value& object, const Value& key);
Value slice_of(Budget& budget, const Value& object, const Value& start, const Value& stop, const Value& step);
/// @throws Failure the value can be no key of a dict
void require_hashable(Budget& budget, const Value& value);
/// @throws Failure the value is undefined
void require_defined(const Value& value);

}  // namespace monomorph::data::jinja
