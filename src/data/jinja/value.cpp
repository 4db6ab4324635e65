#include "core/json_text.hpp"
#include "data/jinja/failure.hpp"
#include "data/jinja/loop.hpp"
#include "data/jinja/operators.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/jinja/value.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace monomorph::data::jinja {
namespace {

int checked_depth(int depth) {
  if (depth > Value::most_depth)
    throw Failure{"JINJA-03", fmt::format("a value lies more than {} levels deep in others", Value::most_depth)};
  return depth;
}

int depth_of(const std::vector<Value>& items) {
  int most = 0;
  for (const Value& item : items) most = std::max(most, item.depth());
  return checked_depth(most + 1);
}

Value sequence_of(std::vector<Value> items, bool is_tuple, std::span<const std::string_view> names = {}) {
  const int depth = depth_of(items);
  return Value(
      std::shared_ptr<const Sequence>(std::make_shared<Sequence>(Sequence{std::move(items), is_tuple, depth, names})));
}

/// Where the keys of a dict that grows stand. Texts, which are most keys, are looked up by their hash.
class KeyPlaces {
 public:
  KeyPlaces(const Dict& dict, Budget* budget) : dict_(dict), budget_(budget) {}
  /// Nothing: the key is new, and will be the next item's.
  std::optional<std::size_t> find_or_add(const Value& key) {
    if (const std::string* const text = key.text()) {
      if (budget_ != nullptr) budget_->look(text->size());
      const auto [place, is_new] = texts_.try_emplace(*text, dict_.items.size());
      return is_new ? std::nullopt : std::optional(place->second);
    }
    for (const std::size_t place : others_)
      if (equal_keys(budget_, dict_.items[place].first, key)) return place;
    others_.push_back(dict_.items.size());
    return std::nullopt;
  }

 private:
  const Dict& dict_;
  Budget* budget_;
  std::unordered_map<std::string, std::size_t> texts_;
  std::vector<std::size_t> others_;
};

/// @param budget null for keys in which none lies twice
Value made_dict(Budget* budget, std::vector<std::pair<Value, Value>> items) {
  Dict dict;
  KeyPlaces places(dict, budget);
  int most = 0;
  for (auto& [key, value] : items) {
    most = std::max({most, key.depth(), value.depth()});
    if (const auto place = places.find_or_add(key)) {
      dict.items[*place].second = std::move(value);
    } else {
      dict.items.emplace_back(std::move(key), std::move(value));
    }
  }
  dict.depth = checked_depth(most + 1);
  return Value(std::shared_ptr<const Dict>(std::make_shared<Dict>(std::move(dict))));
}

/// Builds a value out of what nlohmann's parser meets. Dicts keep the order of their keys, and however many these are,
/// each costs the same.
class JsonValueBuilder {
 public:
  Value take() { return std::move(value_); }

  bool null() { return add({}); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) {
    return value <= INT64_MAX ? add(static_cast<std::int64_t>(value)) : add(static_cast<double>(value));
  }
  bool number_float(double value, const std::string&) { return add(value); }
  bool string(std::string& text) { return add(std::move(text)); }
  bool binary(nlohmann::json::binary_t&) { return false; }  // JSON as text has none
  bool start_object(std::size_t) { return open_.emplace_back(), true; }
  bool start_array(std::size_t) { return open_.emplace_back(), true; }
  bool key(std::string& text) { return open_.back().keys.emplace_back(std::move(text)), true; }
  bool end_array() { return add(Value::list(close().items)); }
  bool end_object() {
    Container closed = close();
    std::vector<std::pair<Value, Value>> items;
    for (std::size_t i = 0; i < closed.items.size(); ++i)
      items.emplace_back(Value(std::move(closed.keys[i])), std::move(closed.items[i]));
    return add(Value::dict(std::move(items)));
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) { return false; }

 private:
  struct Container {
    std::vector<std::string> keys;
    std::vector<Value> items;
  };

  Container close() {
    Container closed = std::move(open_.back());
    open_.pop_back();
    return closed;
  }
  bool add(Value value) {
    if (open_.empty())
      value_ = std::move(value);
    else
      open_.back().items.push_back(std::move(value));
    return true;
  }

  Value value_;
  std::vector<Container> open_;
};

}  // namespace

const Value* Dict::find(std::string_view key) const {
  const auto found = std::ranges::find_if(items, [&](const auto& item) {
    const std::string* const text = item.first.text();
    return text != nullptr && *text == key;
  });
  return found == items.end() ? nullptr : &found->second;
}

std::int64_t Range::size() const {
  if (step > 0) return stop > start ? (stop - start - 1) / step + 1 : 0;
  return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

Value Value::undefined(std::string why) {
  return Value(Undefined{std::make_shared<const std::string>(std::move(why))});
}
Value Value::list(std::vector<Value> items) { return sequence_of(std::move(items), false); }
Value Value::tuple(std::vector<Value> items) { return sequence_of(std::move(items), true); }
Value Value::named_tuple(std::span<const std::string_view> names, std::vector<Value> items) {
  return sequence_of(std::move(items), true, names);
}

Value Value::dict(std::vector<std::pair<Value, Value>> items) { return made_dict(nullptr, std::move(items)); }

Value dict_of(Budget& budget, std::vector<std::pair<Value, Value>> items) {
  budget.make(items.size() * sizeof(Value), items.size() / 8 + 2);  // each key is compared with the others
  return made_dict(&budget, std::move(items));
}

Value Value::iterator(std::vector<Value> items) {
  const int depth = depth_of(items);
  return Value(std::make_shared<Iterator>(Iterator{std::move(items), 0, depth}));
}

const std::string* Value::text() const {
  const Text* const text = as<Text>();
  return text == nullptr ? nullptr : text->get();
}
const Sequence* Value::sequence() const {
  const auto* const sequence = as<std::shared_ptr<const Sequence>>();
  return sequence == nullptr ? nullptr : sequence->get();
}
const Dict* Value::dict() const {
  const auto* const dict = as<std::shared_ptr<const Dict>>();
  return dict == nullptr ? nullptr : dict->get();
}

std::optional<std::int64_t> Value::integer() const {
  if (const auto* const integer = as<std::int64_t>()) return *integer;
  if (const auto* const flag = as<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}
std::optional<double> Value::number() const {
  if (const auto* const number = as<double>()) return *number;
  if (const auto whole = integer()) return static_cast<double>(*whole);
  return std::nullopt;
}

int Value::depth() const {
  if (const Sequence* const items = sequence()) return items->depth;
  if (const Dict* const items = dict()) return items->depth;
  if (const auto* const items = as<std::shared_ptr<Iterator>>()) return (*items)->depth;
  if (const auto* const view = as<DictView>()) return view->dict->depth + 1;
  if (const auto* const callable = as<std::shared_ptr<const Callable>>()) return (*callable)->depth;
  if (const auto* const loop = as<std::shared_ptr<Loop>>()) return (*loop)->depth;
  return 0;
}

std::string_view Value::type_name() const {
  constexpr std::string_view names[] = {"Undefined", "NoneType",   "bool",     "int",        "float",
                                        "str",       "list",       "dict",     "Namespace",  "generator",
                                        "range",     "dict_items", "function", "LoopContext"};
  if (const Sequence* const items = sequence(); items != nullptr && items->is_tuple) return "tuple";
  return names[data_.index()];
}

Value value_of_json(std::string_view text, std::string_view what) {
  const auto refuse = [&](std::string_view why) { throw UsageError("JINJA-05", fmt::format("{} {}", what, why)); };
  if (find_nul(text)) refuse("has a NUL byte, which JSON has nowhere; mend it");
  if (find_too_deep(text, Value::most_json_depth))
    refuse(fmt::format("lies more than {} levels deep", Value::most_json_depth));
  JsonValueBuilder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) refuse("is no JSON; mend it");
  return builder.take();
}

}  // namespace monomorph::data::jinja
