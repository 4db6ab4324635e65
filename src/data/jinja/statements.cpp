#include "data/jinja/globals.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {

Value* Scope::find(std::string_view name) {
  const auto found = std::ranges::find(variables, name, &std::pair<std::string, Value>::first);
  return found == variables.end() ? nullptr : &found->second;
}
void Scope::set(std::string_view name, Value value) {
  if (Value* const known = find(name))
    *known = std::move(value);
  else
    variables.emplace_back(name, std::move(value));
}

Interpreter::~Interpreter() {
  for (const auto& scope : kept_scopes_) scope->variables.clear();
  for (const auto& space : namespaces_) space->attributes.clear();
  for (const auto& loop : kept_loops_) loop->changed.clear();
}

template <class Render> std::string Interpreter::captured(Render render) {
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  render();
  out_ = outer;
  return text;
}

template <class Action> auto Interpreter::within(std::shared_ptr<Scope> parent, Action action) {
  auto outer = std::exchange(scope_, std::make_shared<Scope>(Scope{{}, std::move(parent)}));
  auto result = action();
  scope_ = std::move(outer);
  return result;
}

void Interpreter::write(std::string_view text) {
  budget_.make(text.size());
  *out_ += text;
}

Rendered Interpreter::run(const Program& program, const Variables& variables) {
  scope_ = std::make_shared<Scope>(Scope{global_variables(), nullptr});
  for (const auto& [name, value] : variables) scope_->set(name, value);
  scope_ = std::make_shared<Scope>(Scope{{}, scope_});
  execute(program.body);
  rendered_.steps = budget_.steps();
  return std::move(rendered_);
}

Interpreter::Flow Interpreter::execute(const Body& body) {
  const Level level(budget_);
  for (const Statement& statement : body) {
    line_ = statement.line;
    budget_.step();
    const Flow flow = std::visit([this](const auto& form) { return run(form); }, statement.form);
    if (flow != Flow::next) return flow;
  }
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const TextStatement& text) { return write(text.text), Flow::next; }

Interpreter::Flow Interpreter::run(const Output& output) {
  return write(text_of(budget_, evaluate(output.value))), Flow::next;
}

Interpreter::Flow Interpreter::run(const If& condition) {
  for (const auto& [holds, body] : condition.branches)
    if (is_true(evaluate(holds))) return execute(body);
  return execute(condition.otherwise);
}

Interpreter::Flow Interpreter::run(const For& loop) {
  const Value items = evaluate(loop.items);
  loop_over(loop, items_of(budget_, items), 0);
  return Flow::next;
}

void Interpreter::loop_over(const For& loop, std::vector<Value> items, int level) {
  const std::shared_ptr<Loop> state = new_loop(loop, chosen_items(loop, std::move(items)), level);
  bool was_whole = false;  // one pass at least came to its end: as Jinja's code has it, `else` follows otherwise
  for (; state->index < state->items.size(); ++state->index) {
    budget_.step();
    const Flow flow = within(scope_, [&] {
      scope_->set("loop", Value(state));
      assign(loop.target, state->items[state->index]);
      return execute(loop.body);
    });
    if (flow == Flow::leave) break;
    was_whole |= flow == Flow::next;
  }
  if (!was_whole) within(scope_, [&] { return execute(loop.otherwise); });
}

std::vector<Value> Interpreter::chosen_items(const For& loop, std::vector<Value> items) {
  if (!loop.condition) return items;
  std::vector<Value> chosen;
  for (const Value& item : items) {
    const bool holds = within(scope_, [&] {
      assign(loop.target, item);
      return is_true(evaluate(loop.condition));
    });
    if (holds) chosen.push_back(item);
  }
  return chosen;
}

std::shared_ptr<Loop> Interpreter::new_loop(const For& loop, std::vector<Value> items, int level) {
  const int depth = Value::list(items).depth();
  const auto state = std::make_shared<Loop>(Loop{.items = std::move(items), .depth = depth, .level = level});
  if (loop.is_recursive) {
    state->recurse = [this, &loop, level, scope = std::weak_ptr(scope_)](const Value& inner) -> Value {
      const auto around = scope.lock();
      if (around == nullptr) fail("a loop is called that has ended");
      const auto here = std::exchange(scope_, around);
      std::string text = captured([&] { loop_over(loop, items_of(budget_, inner), level + 1); });
      scope_ = here;
      return text;
    };
  }
  return state;
}

Interpreter::Flow Interpreter::run(const Set& set) { return assign(set.target, evaluate(set.value)), Flow::next; }

void Interpreter::assign(const Target& target, const Value& value) {
  if (target.is_tuple) {
    const std::vector<Value> items = items_of(budget_, value);
    if (value.is_undefined()) require_defined(value);
    if (items.size() != target.parts.size())
      fail("{} values are to be unpacked, and there are {}", target.parts.size(), items.size());
    for (std::size_t i = 0; i < items.size(); ++i) assign(target.parts[i], items[i]);
    return;
  }
  if (target.attribute.empty()) return set(target.name, value);
  const Value object = of(Name{target.name});
  const auto* const space = object.as<std::shared_ptr<Namespace>>();
  if (space == nullptr) fail("{} is no namespace, so that its attributes can't be set", target.name);
  if (target.attribute.starts_with('_')) fail("attributes of a namespace can't begin with an underscore");
  auto& attributes = (*space)->attributes;
  budget_.search(attributes.size());
  const auto known = std::ranges::find(attributes, target.attribute, &std::pair<std::string, Value>::first);
  if (known == attributes.end())
    attributes.emplace_back(target.attribute, value);
  else
    known->second = value;
}

Interpreter::Flow Interpreter::run(const SetBlock& set) {
  Value text = captured([&] { within(scope_, [&] { return execute(set.body); }); });
  if (set.filter) {
    block_text_ = std::move(text);
    text = evaluate(set.filter);
  }
  return assign(set.target, text), Flow::next;
}

Interpreter::Flow Interpreter::run(const FilterBlock& block) {
  block_text_ = captured([&] { within(scope_, [&] { return execute(block.body); }); });
  return write(text_of(budget_, evaluate(block.filter))), Flow::next;
}

Interpreter::Flow Interpreter::run(const With& with) {
  std::vector<Value> values;
  for (const auto& [target, value] : with.values) values.push_back(evaluate(value));
  return within(scope_, [&] {
    for (std::size_t i = 0; i < values.size(); ++i) assign(with.values[i].first, values[i]);
    return execute(with.body);
  });
}

Interpreter::Flow Interpreter::run(const Generation& generation) {
  const std::string text = captured([&] { within(scope_, [&] { return execute(generation.body); }); });
  // Where it begins is counted as transformers does: behind what the template itself has written.
  const std::size_t begin = rendered_.text.size();
  rendered_.generated.emplace_back(begin, begin + text.size());
  rendered_.generated_in_place &= out_ == &rendered_.text;
  return write(text), Flow::next;
}

Interpreter::Flow Interpreter::run(const Macro& macro) {
  set(macro.macro->name, macro_of(macro.macro));
  return Flow::next;
}

Interpreter::Flow Interpreter::run(const CallBlock& block) {
  const Call& call_form = std::get<Call>(block.call->form);
  const Value callee = evaluate(call_form.callee);
  Arguments arguments = arguments_of(call_form.arguments);
  arguments.named.emplace_back("caller", macro_of(block.body));
  return write(text_of(budget_, call(callee, arguments))), Flow::next;
}

void Interpreter::set(std::string_view name, Value value) {
  budget_.search(scope_->variables.size());
  scope_->set(name, std::move(value));
}

/// The scope that it closes over lives as long as the render, and so counts with it.
Value Interpreter::macro_of(std::shared_ptr<const MacroBody> body) {
  std::string name = body->name;
  budget_.make(sizeof(Scope) + sizeof(Callable) + 2 * name.size());
  if (!std::exchange(scope_->is_kept, true)) kept_scopes_.push_back(scope_);
  return Value(std::make_shared<const Callable>(
      Callable{std::move(name),
               [body = std::move(body), scope = scope_](Interpreter& self, const Arguments& arguments) {
                 return self.call_macro(*body, scope, arguments);
               }}));
}

Value Interpreter::call_macro(const MacroBody& body, const std::shared_ptr<Scope>& scope, const Arguments& arguments) {
  const int line = line_;
  std::string text = captured([&] {
    within(scope, [&] {
      bind(body, arguments);
      return execute(body.body);
    });
  });
  line_ = line;
  return text;
}

void Interpreter::bind(const MacroBody& body, const Arguments& arguments) {
  const std::size_t n_parameters = body.parameters.size(), n_given = arguments.positional.size();
  if (n_given > n_parameters && !body.reads_varargs)
    fail("the macro {} takes {} values, and is given {}", body.name, n_parameters, n_given);
  std::vector<bool> is_used(arguments.named.size());
  const auto take_named = [&](std::string_view name) -> const Value* {
    for (std::size_t i = 0; i < arguments.named.size(); ++i)
      if (arguments.named[i].first == name) return is_used[i] = true, &arguments.named[i].second;
    return nullptr;
  };
  for (std::size_t i = 0; i < n_parameters; ++i) {
    const Parameter& parameter = body.parameters[i];
    const Value* const value = i < n_given ? &arguments.positional[i] : take_named(parameter.name);
    budget_.search(arguments.named.size());
    set(parameter.name, value != nullptr ? *value
                        : parameter.fallback
                            ? evaluate(parameter.fallback)
                            : Value::undefined(fmt::format("parameter {} was not provided", parameter.name)));
  }
  const auto has_parameter = [&](std::string_view name) {
    return std::ranges::find(body.parameters, name, &Parameter::name) != body.parameters.end();
  };
  if (body.reads_caller && !has_parameter("caller")) {
    const Value* const caller = take_named("caller");
    scope_->set("caller", caller != nullptr ? *caller : Value::undefined("no caller is defined"));
  }
  std::vector<std::pair<Value, Value>> others;
  for (std::size_t i = 0; i < arguments.named.size(); ++i)
    if (!is_used[i]) others.emplace_back(Value(arguments.named[i].first), arguments.named[i].second);
  if (!others.empty() && !body.reads_kwargs)
    fail("the macro {} takes no argument {}", body.name, python::repr_of_text(*others.front().first.text()));
  if (body.reads_kwargs) scope_->set("kwargs", Value::dict(std::move(others)));
  if (!body.reads_varargs) return;
  const auto first = arguments.positional.begin() + static_cast<std::ptrdiff_t>(std::min(n_parameters, n_given));
  scope_->set("varargs", Value::tuple({first, arguments.positional.end()}));
}

}  // namespace monomorph::data::jinja
