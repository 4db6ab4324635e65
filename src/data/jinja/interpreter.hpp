#pragma once
#include "data/jinja/budget.hpp"
#include "data/jinja/loop.hpp"
#include "data/jinja/syntax.hpp"

#include <monomorph/data/jinja/template.hpp>

#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

/// The names of a template, a loop's body or a macro, within those around it.
struct Scope {
  Variables variables;
  std::shared_ptr<Scope> parent;
  bool is_kept = false;  ///< a macro that was made in it may be called later

  Value* find(std::string_view name);
  void set(std::string_view name, Value value);
};

/// Renders a template once. Functions throw Failure.
class Interpreter {
 public:
  Interpreter(const RenderLimits& limits, std::time_t now) : budget_(limits), now_(now) {}
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  Rendered run(const Program& program, const Variables& variables);

  Budget& budget() { return budget_; }
  std::time_t now() const { return now_; }
  /// The line that is rendered.
  int line() const { return line_; }

  Value call(const Value& callee, const Arguments& arguments);
  /// object.name: a method, or what a dict has by that name.
  Value attribute(const Value& object, std::string_view name);
  /// object[key], or the attribute that a text names.
  Value item(const Value& object, const Value& key);
  Value filter(std::string_view name, const Value& object, const Arguments& arguments);
  bool test(std::string_view name, const Value& object, const Arguments& arguments);
  /// A namespace that lives as long as the interpreter.
  Value new_namespace(Variables attributes);
  /// The loop's `changed` values live as long as the interpreter.
  void keep(std::shared_ptr<Loop> loop) { kept_loops_.push_back(std::move(loop)); }

 private:
  enum class Flow : std::uint8_t { next, leave, again };

  Value evaluate(const ExpressionPtr& expression);
  Value evaluate(const Expression& expression);
  Value of(const Literal& literal) { return literal.value; }
  Value of(const Name& name);
  Value of(const SequenceLiteral& sequence);
  Value of(const DictLiteral& dict);
  Value of(const AttributeOf& attribute);
  Value of(const ItemOf& item);
  Value of(const Slice& slice);
  Value of(const Call& call);
  Value of(const Filter& filter);
  Value of(const Test& test);
  Value of(const Unary& unary);
  Value of(const Binary& binary);
  Value of(const Comparison& comparison);
  Value of(const Logical& logical);
  Value of(const Concatenation& concatenation);
  Value of(const Conditional& conditional);
  Arguments arguments_of(const CallArguments& arguments);

  Flow execute(const Body& body);
  Flow run(const TextStatement& text);
  Flow run(const Output& output);
  Flow run(const If& condition);
  Flow run(const For& loop);
  Flow run(const Set& set);
  Flow run(const SetBlock& set);
  Flow run(const Macro& macro);
  Flow run(const CallBlock& block);
  Flow run(const FilterBlock& block);
  Flow run(const With& with);
  Flow run(const Generation& generation);
  Flow run(const Break&) { return Flow::leave; }
  Flow run(const Continue&) { return Flow::again; }

  void loop_over(const For& loop, std::vector<Value> items, int level);
  std::vector<Value> chosen_items(const For& loop, std::vector<Value> items);
  std::shared_ptr<Loop> new_loop(const For& loop, std::vector<Value> items, int level);
  void assign(const Target& target, const Value& value);
  void set(std::string_view name, Value value);
  /// A macro that sees the names that are here.
  Value macro_of(std::shared_ptr<const MacroBody> body);
  Value call_macro(const MacroBody& body, const std::shared_ptr<Scope>& scope, const Arguments& arguments);
  void bind(const MacroBody& body, const Arguments& arguments);
  /// What `render` writes, by itself.
  template <class Render> std::string captured(Render render);
  /// Runs `action` with names of its own within those of `parent`.
  template <class Action> auto within(std::shared_ptr<Scope> parent, Action action);
  void write(std::string_view text);

  Budget budget_;
  std::time_t now_;
  int line_ = 1;
  std::shared_ptr<Scope> scope_;
  Rendered rendered_;
  std::string* out_ = &rendered_.text;
  Value block_text_;  ///< what the filters of a block get
  // Values that can hold each other in a circle, or in a chain too long for destructors that call each other.
  std::vector<std::shared_ptr<Scope>> kept_scopes_;
  std::vector<std::shared_ptr<Namespace>> namespaces_;
  std::vector<std::shared_ptr<Loop>> kept_loops_;
};

}  // namespace monomorph::data::jinja
