#pragma once
#include "data/jinja/budget.hpp"
#include "data/jinja/syntax.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <compare>

namespace monomorph::data::jinja {

// What Python's operators make of values. All throw Failure where Python raises an exception.

bool is_true(const Value& value);
/// Of values in which none lies twice: those of JSON, and keys of dicts.
bool equal(const Value& left, const Value& right);
bool equal(Budget& budget, const Value& left, const Value& right);
/// Whether it is the same list, tuple, dict or object, or an equal value of the same type.
bool is_same(const Value& left, const Value& right);
/// @param sign of the operator that asks, for the message
std::partial_ordering order(Budget& budget, const Value& left, const Value& right, std::string_view sign);
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
