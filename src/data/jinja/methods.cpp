#include "data/jinja/methods.hpp"

#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/text_methods.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>
#include <array>

namespace monomorph::data::jinja {
namespace value_methods {
namespace {

Value index_in_list(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("index", arguments, {"value"}, 1);
  const auto& items = self.sequence()->items;
  interpreter.budget().look(items.size() * sizeof(Value));
  const auto found =
      std::ranges::find_if(items, [&](const Value& item) { return equal(interpreter.budget(), item, bound.value(0)); });
  if (found == items.end()) fail("what index looks for is not in the list");
  return static_cast<std::int64_t>(found - items.begin());
}

Value count_in_list(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("count", arguments, {"value"}, 1);
  interpreter.budget().look(self.sequence()->items.size() * sizeof(Value));
  return static_cast<std::int64_t>(std::ranges::count_if(self.sequence()->items, [&](const Value& item) {
    return equal(interpreter.budget(), item, bound.value(0));
  }));
}

Value copy(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("copy", arguments, {});
  return self;
}

Value refuse_change(Interpreter&, const Value& self, const Arguments&) {
  fail("a template can't change a {}; make a new one, or set an attribute of a namespace", self.type_name());
}

Value get(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("get", arguments, {"key", "default"}, 1);
  Budget& budget = interpreter.budget();
  require_hashable(budget, bound.value(0));
  if (const Value* const found = find_value(budget, *self.dict(), bound.value(0))) return *found;
  return bound.at(1) != nullptr ? bound.value(1) : Value();
}

template <DictView::Part part> Value view(Interpreter&, const Value& self, const Arguments& arguments) {
  const BoundArguments bound("a view of a dict", arguments, {});
  return Value(DictView{*self.as<std::shared_ptr<const Dict>>(), part});
}

struct NamedMethod {
  std::string_view name;
  Method method;
};
constexpr NamedMethod list_methods[] = {
    {"append", refuse_change},  {"clear", refuse_change},  {"copy", copy},
    {"count", count_in_list},   {"extend", refuse_change}, {"index", index_in_list},
    {"insert", refuse_change},  {"pop", refuse_change},    {"remove", refuse_change},
    {"reverse", refuse_change}, {"sort", refuse_change}};
constexpr NamedMethod dict_methods[] = {{"clear", refuse_change},
                                        {"copy", copy},
                                        {"get", get},
                                        {"items", view<DictView::Part::items>},
                                        {"keys", view<DictView::Part::keys>},
                                        {"pop", refuse_change},
                                        {"popitem", refuse_change},
                                        {"setdefault", refuse_change},
                                        {"update", refuse_change},
                                        {"values", view<DictView::Part::values>}};

template <std::size_t N> Method find_in(const NamedMethod (&methods)[N], std::string_view name) {
  const auto* const found = std::ranges::find(methods, name, &NamedMethod::name);
  return found == std::end(methods) ? nullptr : found->method;
}

Method find_method(const Value& object, std::string_view name) {
  if (object.is_text()) return find_text_method(name);
  if (object.dict() != nullptr) return find_in(dict_methods, name);
  if (object.sequence() == nullptr) return nullptr;
  if (object.sequence()->is_tuple && name != "count" && name != "index") return nullptr;
  return find_in(list_methods, name);
}

Value bound_method(const Value& self, std::string_view name, Method method) {
  if (self.depth() > Value::most_depth) fail("methods of methods lie too deep within each other");
  return Value(
      std::make_shared<const Callable>(Callable{std::string(name),
                                                [self, method](Interpreter& interpreter, const Arguments& arguments) {
                                                  return method(interpreter, self, arguments);
                                                },
                                                self.depth() + 1}));
}

Value cycle(const std::shared_ptr<Loop>& loop, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("loop.cycle needs values to go through");
  return arguments.positional[loop->index % arguments.positional.size()];
}

Value changed(Interpreter& interpreter, const std::shared_ptr<Loop>& loop, const Arguments& arguments) {
  const auto same = [&](const Value& a, const Value& b) { return equal(interpreter.budget(), a, b); };
  if (loop->changed.size() == arguments.positional.size() && !loop->changed.empty() &&
      std::ranges::equal(loop->changed, arguments.positional, same))
    return false;
  if (loop->changed.empty()) interpreter.keep(loop);
  loop->changed = arguments.positional;
  return true;
}

std::optional<Value> loop_attribute(const std::shared_ptr<Loop>& loop, std::string_view name) {
  const auto size = static_cast<std::int64_t>(loop->items.size()), at = static_cast<std::int64_t>(loop->index);
  const auto neighbour = [&](std::int64_t place, const char* why) {
    return place >= 0 && place < size ? loop->items[static_cast<std::size_t>(place)] : Value::undefined(why);
  };
  if (name == "index") return at + 1;
  if (name == "index0") return at;
  if (name == "revindex") return size - at;
  if (name == "revindex0") return size - at - 1;
  if (name == "first") return at == 0;
  if (name == "last") return at + 1 == size;
  if (name == "length") return size;
  if (name == "depth") return std::int64_t{loop->level} + 1;
  if (name == "depth0") return std::int64_t{loop->level};
  if (name == "previtem") return neighbour(at - 1, "there is no previous item");
  if (name == "nextitem") return neighbour(at + 1, "there is no next item");
  if (name == "cycle")
    return Value(std::make_shared<const Callable>(
        Callable{"cycle", [loop](Interpreter&, const Arguments& arguments) { return cycle(loop, arguments); },
                 loop->depth + 1}));
  if (name == "changed")
    return Value(
        std::make_shared<const Callable>(Callable{"changed",
                                                  [loop](Interpreter& interpreter, const Arguments& arguments) {
                                                    return changed(interpreter, loop, arguments);
                                                  },
                                                  loop->depth + 1}));
  return std::nullopt;
}

}  // namespace
}  // namespace value_methods

std::optional<Value> attribute_of(const Value& object, std::string_view name) {
  if (const auto* const loop = object.as<std::shared_ptr<Loop>>()) return value_methods::loop_attribute(*loop, name);
  if (const auto* const space = object.as<std::shared_ptr<Namespace>>()) {
    const auto& attributes = (*space)->attributes;
    const auto found = std::ranges::find(attributes, name, &std::pair<std::string, Value>::first);
    return found == attributes.end() ? std::nullopt : std::optional(found->second);
  }
  if (const auto* const callable = object.as<std::shared_ptr<const Callable>>(); callable != nullptr && name == "name")
    return (*callable)->name;
  if (const Sequence* const sequence = object.sequence())
    if (const auto found = std::ranges::find(sequence->names, name); found != sequence->names.end())
      return sequence->items[static_cast<std::size_t>(found - sequence->names.begin())];
  if (const Method method = value_methods::find_method(object, name))
    return value_methods::bound_method(object, name, method);
  return std::nullopt;
}

}  // namespace monomorph::data::jinja
