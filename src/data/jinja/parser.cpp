#include "data/jinja/parser.hpp"

#include "data/jinja/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data::jinja {
namespace {

constexpr int most_blocks = 100;  ///< within each other

/// What ends a body.
using Ends = std::initializer_list<std::string_view>;

class Parser {
 public:
  explicit Parser(std::string_view source) : tokens_(tokens_of(source)), expressions_(tokens_) {}

  Program run() && {
    Program program;
    program.body = body({});
    program.marks_generation = marks_generation_;
    return program;
  }

 private:
  /// Statements up to a block that is one of `ends`, whose name is then the current token.
  Body body(Ends ends) {
    if (++depth_ > most_blocks) tokens_.fail("blocks lie too deep within each other");
    Body statements;
    while (true) {
      const int line = tokens_.line();
      if (tokens_.is(TokenKind::end)) {
        if (ends.size() != 0) tokens_.fail_unexpected("{% " + std::string(*(ends.end() - 1)) + " %}");
        break;
      }
      if (tokens_.is(TokenKind::text)) {
        statements.push_back({TextStatement{tokens_.next().text}, line});
        continue;
      }
      const bool is_output = tokens_.next().kind == TokenKind::output_begin;
      if (is_output) {
        statements.push_back({Output{expressions_.tuple()}, line});
        tokens_.expect(TokenKind::output_end, "}}");
        continue;
      }
      if (tokens_.is_name_of(ends)) break;
      statements.push_back(statement());
      tokens_.expect(TokenKind::block_end, "%}");
    }
    --depth_;
    return statements;
  }
  /// A body whose end is taken away but for the end of its tag.
  Body body_to(std::string_view end) {
    tokens_.expect(TokenKind::block_end, "%}");
    Body statements = body({end});
    tokens_.next();
    return statements;
  }

  Statement statement() {
    const int line = tokens_.line();
    const std::string name = tokens_.expect_any_name();
    if (name == "if") return {if_block(), line};
    if (name == "for") return {for_block(), line};
    if (name == "set") return set(line);
    if (name == "macro") return {Macro{macro()}, line};
    if (name == "call") return {call_block(), line};
    if (name == "filter") return {filter_block(), line};
    if (name == "with") return {with(), line};
    if (name == "print") return {Output{expressions_.printed()}, line};
    if (name == "generation") {
      marks_generation_ = true;
      return {Generation{macro_level([&] { return body_to("endgeneration"); })}, line};
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) fail_at(line, "{% " + name + " %} stands outside of a loop");
      return name == "break" ? Statement{Break{}, line} : Statement{Continue{}, line};
    }
    if (name == "include" || name == "import" || name == "from" || name == "extends" || name == "block")
      fail_at(line, fmt::format("{{% {} %}} joins templates, and a chat template is one file", name));
    fail_at(line, fmt::format("there is no tag {}", name));
  }

  If if_block() {
    If result;
    while (true) {
      ExpressionPtr condition = expressions_.tuple(false);
      tokens_.expect(TokenKind::block_end, "%}");
      result.branches.emplace_back(std::move(condition), body({"elif", "else", "endif"}));
      const std::string end = tokens_.next().text;
      if (end == "elif") continue;
      if (end == "else") result.otherwise = body_to("endif");
      return result;
    }
  }

  For for_block() {
    For loop;
    loop.target = target("in");
    tokens_.expect_name("in");
    loop.items = expressions_.tuple(false, "recursive");
    if (tokens_.skip_name("if")) loop.condition = expressions_.expression();
    loop.is_recursive = tokens_.skip_name("recursive");
    tokens_.expect(TokenKind::block_end, "%}");
    ++loops_;
    loop.body = body({"endfor", "else"});
    --loops_;
    if (tokens_.next().text == "else") loop.otherwise = body_to("endfor");
    return loop;
  }

  Statement set(int line) {
    Target to = target("=");
    if (tokens_.skip_sign("=")) return {Set{std::move(to), expressions_.tuple()}, line};
    ExpressionPtr filter = expressions_.filters(false);
    return {SetBlock{std::move(to), std::move(filter), body_to("endset")}, line};
  }

  std::shared_ptr<const MacroBody> macro() {
    MacroBody result;
    result.name = tokens_.expect_any_name();
    check_assignable(result.name);
    result.parameters = parameters();
    read_macro_body(result, "endmacro");
    return std::make_shared<const MacroBody>(std::move(result));
  }
  void read_macro_body(MacroBody& result, std::string_view end) {
    const int varargs = expressions_.varargs_read, kwargs = expressions_.kwargs_read, caller = expressions_.caller_read;
    result.body = macro_level([&] { return body_to(end); });
    result.reads_varargs = expressions_.varargs_read > varargs;
    result.reads_kwargs = expressions_.kwargs_read > kwargs;
    result.reads_caller = expressions_.caller_read > caller;
  }
  /// The loops around a macro can't be left from within.
  template <class Read> Body macro_level(Read read) {
    const int loops = std::exchange(loops_, 0);
    Body result = read();
    loops_ = loops;
    return result;
  }

  std::vector<Parameter> parameters() {
    std::vector<Parameter> result;
    tokens_.expect_sign("(");
    while (!tokens_.is_sign(")")) {
      Parameter parameter{tokens_.expect_any_name(), nullptr};
      check_assignable(parameter.name);
      if (tokens_.skip_sign("=")) {
        parameter.fallback = expressions_.expression();
      } else if (!result.empty() && result.back().fallback) {
        tokens_.fail("a parameter without a default follows one that has one");
      }
      result.push_back(std::move(parameter));
      if (!tokens_.skip_sign(",")) break;
    }
    tokens_.expect_sign(")");
    return result;
  }

  CallBlock call_block() {
    MacroBody caller;
    caller.name = "caller";
    if (tokens_.is_sign("(")) caller.parameters = parameters();
    ExpressionPtr call = expressions_.expression();
    if (!std::holds_alternative<Call>(call->form)) fail_at(call->line, "{% call %} needs a call");
    read_macro_body(caller, "endcall");
    return {std::move(call), std::make_shared<const MacroBody>(std::move(caller))};
  }

  FilterBlock filter_block() {
    ExpressionPtr filter = expressions_.filters(true);
    return {std::move(filter), body_to("endfilter")};
  }

  With with() {
    With result;
    while (!tokens_.is(TokenKind::block_end)) {
      if (!result.values.empty()) tokens_.expect_sign(",");
      Target to = target("=");
      tokens_.expect_sign("=");
      result.values.emplace_back(std::move(to), expressions_.expression());
    }
    result.body = body_to("endwith");
    return result;
  }

  /// What is assigned to, before a name or a sign.
  Target target(std::string_view end) {
    Target all;
    while (!tokens_.is_name(end) && !tokens_.is_sign(end) && !tokens_.is(TokenKind::block_end)) {
      all.parts.push_back(single_target());
      if (!tokens_.skip_sign(",")) break;
      all.is_tuple = true;
    }
    if (all.parts.empty()) tokens_.fail_unexpected("a name");
    if (all.is_tuple) return all;
    Target only = std::move(all.parts.front());
    return only;
  }
  Target single_target() {
    Target result;
    if (tokens_.skip_sign("(")) {
      if (++depth_ > most_blocks) tokens_.fail("names lie too deep within each other");
      result = target(")");
      --depth_;
      tokens_.expect_sign(")");
      return result;
    }
    result.name = tokens_.expect_any_name();
    check_assignable(result.name);
    if (tokens_.skip_sign(".")) result.attribute = tokens_.expect_any_name();
    return result;
  }
  void check_assignable(const std::string& name) const {
    for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"})
      if (name == constant) tokens_.fail(fmt::format("{} can't be assigned to", name));
  }

  [[noreturn]] static void fail_at(int line, std::string what) { throw SyntaxError{line, std::move(what)}; }

  TokenStream tokens_;
  ExpressionParser expressions_;
  int depth_ = 0, loops_ = 0;
  bool marks_generation_ = false;
};

}  // namespace

Program parse(std::string_view source) { return Parser(source).run(); }

}  // namespace monomorph::data::jinja
