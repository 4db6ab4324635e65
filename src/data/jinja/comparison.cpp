#include "data/jinja/operators.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>

namespace monomorph::data::jinja {
namespace {

/// @param budget null where nothing is counted
void look(Budget* budget, std::size_t bytes) {
  if (budget != nullptr) budget->look(bytes);
}

/// Where the values of those of a dict's keys are that are texts, as most are: they are looked up by their hash.
class TextKeys {
 public:
  TextKeys(const Dict& dict, Budget* budget) : budget_(budget) {
    for (const auto& [key, value] : dict.items) {
      const std::string* const text = key.text();
      look(budget, text == nullptr ? 0 : text->size());
      if (text != nullptr) texts_.emplace(*text, &value);
    }
  }
  const Value* find(const std::string& key) const {
    look(budget_, key.size());
    const auto found = texts_.find(key);
    return found == texts_.end() ? nullptr : found->second;
  }

 private:
  Budget* budget_;
  std::unordered_map<std::string_view, const Value*> texts_;
};

/// Whether both are the same object, of one of these kinds.
template <class... Kinds> bool hold_same(const Value& left, const Value& right) {
  const auto same = [&]<class Kind>(std::type_identity<Kind>) {
    const auto *const of_left = left.as<std::shared_ptr<Kind>>(), *const of_right = right.as<std::shared_ptr<Kind>>();
    return of_left != nullptr && of_right != nullptr && *of_left == *of_right;
  };
  return (same(std::type_identity<Kinds>{}) || ...);
}

/// As Python compares. A value may lie in a list twice, that list in another twice, and so on: such values are told to
/// be the same where they are one and the same, and others are compared within a budget, as they never come to an end.
class Comparer {
 public:
  /// @param budget null for values that are trees, as those of JSON are
  explicit Comparer(Budget* budget) : budget_(budget) {}

  bool equal(const Value& left, const Value& right) const {
    if (budget_ != nullptr) budget_->step();
    return equal_keys(left, right);
  }
  /// The same, but only what lies in the two is counted, not that they are compared.
  bool equal_keys(const Value& left, const Value& right) const {
    if (left.is_number() && right.is_number()) {
      if (left.integer() && right.integer()) return *left.integer() == *right.integer();
      return *left.number() == *right.number();
    }
    if (left.data().index() != right.data().index()) return false;
    if (left.is_text()) return equal_texts(*left.text(), *right.text());
    if (left.sequence() != nullptr) return equal_sequences(*left.sequence(), *right.sequence());
    if (left.dict() != nullptr) return equal_dicts(*left.dict(), *right.dict());
    if (const auto* const range = left.as<Range>()) return equal_ranges(*range, *right.as<Range>());
    if (const auto* const view = left.as<DictView>()) return equal_views(*view, *right.as<DictView>());
    return left.is_none() || left.is_undefined() || hold_same<Namespace, Iterator, const Callable, Loop>(left, right);
  }

  const Value* find(const Dict& dict, const Value& key) const {
    look(budget_, dict.items.size() * 8);
    const auto is_key = [&](const auto& item) { return equal_keys(item.first, key); };
    const auto found = std::ranges::find_if(dict.items, is_key);
    return found == dict.items.end() ? nullptr : &found->second;
  }

  std::partial_ordering order(const Value& left, const Value& right, std::string_view sign) const {
    if (budget_ != nullptr) budget_->step();
    require_defined(left);
    require_defined(right);
    if (left.integer() && right.integer()) return *left.integer() <=> *right.integer();
    if (left.is_number() && right.is_number()) return *left.number() <=> *right.number();
    if (left.is_text() && right.is_text()) {
      look(budget_, std::min(left.text()->size(), right.text()->size()));
      return left.text()->compare(*right.text()) <=> 0;
    }
    if (left.sequence() && right.sequence() && left.sequence()->is_tuple == right.sequence()->is_tuple)
      return order_items(left.sequence()->items, right.sequence()->items, sign);
    fail("'{}' can't compare {} and {}", sign, left.type_name(), right.type_name());
  }

 private:
  bool equal_texts(const std::string& left, const std::string& right) const {
    if (left.size() == right.size()) look(budget_, left.size());
    return left == right;
  }
  bool equal_items(const std::vector<Value>& left, const std::vector<Value>& right) const {
    return std::ranges::equal(left, right, [this](const Value& a, const Value& b) { return equal(a, b); });
  }
  bool equal_sequences(const Sequence& left, const Sequence& right) const {
    return &left == &right || (left.is_tuple == right.is_tuple && equal_items(left.items, right.items));
  }
  /// Mostly the keys come in the same order.   @param by_keys whatever the values
  bool equal_dicts(const Dict& left, const Dict& right, bool by_keys = false) const {
    if (&left == &right) return true;
    if (left.items.size() != right.items.size()) return false;
    std::optional<TextKeys> texts;
    for (std::size_t i = 0; i < left.items.size(); ++i) {
      const auto& [key, value] = left.items[i];
      const Value* other = &right.items[i].second;
      if (!equal(key, right.items[i].first)) {
        if (!texts) texts.emplace(right, budget_);
        other = key.is_text() ? texts->find(*key.text()) : find(right, key);
      }
      if (other == nullptr || (!by_keys && !equal(value, *other))) return false;
    }
    return true;
  }
  static bool equal_ranges(const Range& left, const Range& right) {
    const std::int64_t size = left.size();
    return size == right.size() && (size == 0 || left.start == right.start) && (size < 2 || left.step == right.step);
  }
  /// As sets, but for values, whose views are equal where they are the same object: of the same dict, as which object
  /// a view is, is not known.
  bool equal_views(const DictView& left, const DictView& right) const {
    if (left.part != right.part) return false;
    if (left.part == DictView::Part::values) return left.dict == right.dict;
    return equal_dicts(*left.dict, *right.dict, left.part == DictView::Part::keys);
  }
  std::partial_ordering order_items(const std::vector<Value>& left, const std::vector<Value>& right,
                                    std::string_view sign) const {
    const std::size_t both = std::min(left.size(), right.size());
    for (std::size_t i = 0; i < both; ++i)
      if (!equal(left[i], right[i])) return order(left[i], right[i], sign);
    return left.size() <=> right.size();
  }

  Budget* budget_;
};

}  // namespace

bool is_same(const Value& left, const Value& right) {
  if (left.sequence() != nullptr || left.dict() != nullptr)
    return left.sequence() == right.sequence() && left.dict() == right.dict();
  if (left.is<DictView>()) return false;  // each call makes another view, even of the same dict
  return left.data().index() == right.data().index() && equal(left, right);
}
bool equal(const Value& left, const Value& right) { return Comparer(nullptr).equal(left, right); }
bool equal(Budget& budget, const Value& left, const Value& right) { return Comparer(&budget).equal(left, right); }
bool equal_keys(Budget* budget, const Value& left, const Value& right) {
  return Comparer(budget).equal_keys(left, right);
}
const Value* find_value(Budget& budget, const Dict& dict, const Value& key) {
  return Comparer(&budget).find(dict, key);
}
std::partial_ordering order(Budget& budget, const Value& left, const Value& right, std::string_view sign) {
  return Comparer(&budget).order(left, right, sign);
}

}  // namespace monomorph::data::jinja
