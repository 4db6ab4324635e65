#include "data/jinja/expression_parser.hpp"

#include <algorithm>
#include <array>

namespace monomorph::data::jinja {
namespace {

/// How deep expressions may lie within each other.
constexpr int most_height = 100;

int height_of(const ExpressionPtr& expression) { return expression == nullptr ? 0 : expression->height; }
int height_of(const std::vector<ExpressionPtr>& all) {
  int most = 0;
  for (const ExpressionPtr& one : all) most = std::max(most, height_of(one));
  return most;
}
int height_of(const CallArguments& arguments) {
  int most = std::max(
      {height_of(arguments.positional), height_of(arguments.more_positional), height_of(arguments.more_named)});
  for (const auto& [name, value] : arguments.named) most = std::max(most, height_of(value));
  return most;
}

ExpressionPtr made(Expression::Form form, int line, int height_within) {
  if (height_within >= most_height) throw SyntaxError{line, "expressions lie too deep within each other"};
  return std::make_unique<const Expression>(Expression{std::move(form), line, height_within + 1});
}
ExpressionPtr literal(Value value, int line) { return made(Literal{std::move(value)}, line, 0); }

struct Sign {
  std::string_view text;
  BinaryOperator op;
};
constexpr std::array<Sign, 2> sum_signs = {{{"+", BinaryOperator::add}, {"-", BinaryOperator::subtract}}};
constexpr std::array<Sign, 4> product_signs = {{{"*", BinaryOperator::multiply},
                                                {"/", BinaryOperator::divide},
                                                {"//", BinaryOperator::floor_divide},
                                                {"%", BinaryOperator::modulo}}};
constexpr std::array<Sign, 1> power_signs = {{{"**", BinaryOperator::power}}};

template <class Signs> const Sign* sign_at(const TokenStream& tokens, const Signs& signs) {
  const auto found = std::ranges::find_if(signs, [&](const Sign& sign) { return tokens.is_sign(sign.text); });
  return found == signs.end() ? nullptr : &*found;
}

/// Operands with signs between, from left to right.
template <class Signs, class Operand> ExpressionPtr chain(TokenStream& tokens, const Signs& signs, Operand operand) {
  ExpressionPtr left = operand();
  while (const Sign* const sign = sign_at(tokens, signs)) {
    const int line = tokens.next().line;
    ExpressionPtr right = operand();
    const int height = std::max(left->height, right->height);
    left = made(Binary{sign->op, std::move(left), std::move(right)}, line, height);
  }
  return left;
}

/// Skips a token that compares, if one comes next, and returns which it was.
std::optional<Comparator> skip_comparator(TokenStream& tokens) {
  constexpr std::pair<std::string_view, Comparator> signs[] = {
      {"==", Comparator::equal},      {"!=", Comparator::unequal}, {"<", Comparator::less},
      {"<=", Comparator::less_equal}, {">", Comparator::greater},  {">=", Comparator::greater_equal}};
  for (const auto& [sign, comparator] : signs)
    if (tokens.skip_sign(sign)) return comparator;
  if (tokens.skip_name("in")) return Comparator::in;
  if (!tokens.is_name("not") || !tokens.look().is(TokenKind::name, "in")) return std::nullopt;
  tokens.next();
  tokens.next();
  return Comparator::not_in;
}

}  // namespace

ExpressionPtr ExpressionParser::expression() { return conditional(); }

ExpressionPtr ExpressionParser::tuple(bool with_conditional, std::string_view end_name, bool may_be_empty) {
  const int line = tokens_.line();
  const auto ends = [&] {
    return tokens_.is(TokenKind::output_end) || tokens_.is(TokenKind::block_end) || tokens_.is_sign(")") ||
           (!end_name.empty() && tokens_.is_name(end_name));
  };
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!ends()) {
    items.push_back(with_conditional ? expression() : either());
    if (!tokens_.skip_sign(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return std::move(items.front());
  if (!is_tuple && !may_be_empty) tokens_.fail_unexpected("an expression");
  const int height = height_of(items);
  return made(SequenceLiteral{std::move(items), true}, line, height);
}

ExpressionPtr ExpressionParser::printed() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> parts;
  do {
    parts.push_back(expression());
  } while (tokens_.skip_sign(","));
  const int height = height_of(parts);
  return made(Concatenation{std::move(parts)}, line, height);
}

ExpressionPtr ExpressionParser::conditional() {
  // Whatever nests expressions goes through here.
  if (++depth_ > most_height) tokens_.fail("expressions lie too deep within each other");
  ExpressionPtr then = either();
  while (tokens_.is_name("if")) {
    const int line = tokens_.next().line;
    ExpressionPtr condition = either(), otherwise = tokens_.skip_name("else") ? conditional() : nullptr;
    const int height = std::max({then->height, condition->height, height_of(otherwise)});
    then = made(Conditional{std::move(condition), std::move(then), std::move(otherwise)}, line, height);
  }
  --depth_;
  return then;
}

ExpressionPtr ExpressionParser::either() {
  ExpressionPtr left = both();
  while (tokens_.is_name("or")) {
    const int line = tokens_.next().line;
    ExpressionPtr right = both();
    const int height = std::max(left->height, right->height);
    left = made(Logical{false, std::move(left), std::move(right)}, line, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::both() {
  ExpressionPtr left = negation();
  while (tokens_.is_name("and")) {
    const int line = tokens_.next().line;
    ExpressionPtr right = negation();
    const int height = std::max(left->height, right->height);
    left = made(Logical{true, std::move(left), std::move(right)}, line, height);
  }
  return left;
}

ExpressionPtr ExpressionParser::negation() {
  std::vector<int> lines;
  while (tokens_.is_name("not")) lines.push_back(tokens_.next().line);
  ExpressionPtr operand = comparison();
  for (; !lines.empty(); lines.pop_back()) {
    const int height = operand->height;
    operand = made(Unary{UnaryOperator::negation, std::move(operand)}, lines.back(), height);
  }
  return operand;
}

ExpressionPtr ExpressionParser::comparison() {
  const int line = tokens_.line();
  ExpressionPtr first = sum();
  std::vector<std::pair<Comparator, ExpressionPtr>> others;
  int height = first->height;
  while (const auto comparator = skip_comparator(tokens_)) {
    others.emplace_back(*comparator, sum());
    height = std::max(height, others.back().second->height);
  }
  if (others.empty()) return first;
  return made(Comparison{std::move(first), std::move(others)}, line, height);
}

ExpressionPtr ExpressionParser::sum() {
  return chain(tokens_, sum_signs, [this] { return concatenation(); });
}

ExpressionPtr ExpressionParser::concatenation() {
  const int line = tokens_.line();
  std::vector<ExpressionPtr> parts;
  parts.push_back(product());
  while (tokens_.skip_sign("~")) parts.push_back(product());
  if (parts.size() == 1) return std::move(parts.front());
  const int height = height_of(parts);
  return made(Concatenation{std::move(parts)}, line, height);
}

ExpressionPtr ExpressionParser::product() {
  return chain(tokens_, product_signs, [this] { return power(); });
}

ExpressionPtr ExpressionParser::power() {
  return chain(tokens_, power_signs, [this] { return unary(); });
}

ExpressionPtr ExpressionParser::unary(bool with_filters) {
  const int line = tokens_.line();
  ExpressionPtr operand;
  if (tokens_.is_sign("-") || tokens_.is_sign("+")) {
    const auto op = tokens_.next().text == "-" ? UnaryOperator::negative : UnaryOperator::positive;
    if (++depth_ > most_height) tokens_.fail("expressions lie too deep within each other");
    operand = unary(false);
    --depth_;
    const int height = operand->height;
    operand = made(Unary{op, std::move(operand)}, line, height);
  } else {
    operand = primary();
  }
  operand = postfix(std::move(operand));
  return with_filters ? filtered(std::move(operand)) : std::move(operand);
}

ExpressionPtr ExpressionParser::primary() {
  const int line = tokens_.line();
  if (tokens_.is(TokenKind::name)) return name();
  if (tokens_.is(TokenKind::string)) {
    std::string text;
    while (tokens_.is(TokenKind::string)) text += tokens_.next().text;
    return literal(std::move(text), line);
  }
  if (tokens_.is(TokenKind::number))
    return literal(std::visit([](auto number) { return Value(number); }, tokens_.next().number), line);
  if (tokens_.skip_sign("(")) {
    ExpressionPtr inner = tuple(true, {}, true);
    tokens_.expect_sign(")");
    return inner;
  }
  if (tokens_.is_sign("[")) return list();
  if (tokens_.is_sign("{")) return dict();
  tokens_.fail_unexpected("an expression");
}

ExpressionPtr ExpressionParser::name() {
  Token token = tokens_.next();
  if (token.text == "true" || token.text == "True") return literal(true, token.line);
  if (token.text == "false" || token.text == "False") return literal(false, token.line);
  if (token.text == "none" || token.text == "None") return literal(Value(), token.line);
  varargs_read += token.text == "varargs";
  kwargs_read += token.text == "kwargs";
  caller_read += token.text == "caller";
  return made(Name{std::move(token.text)}, token.line, 0);
}

ExpressionPtr ExpressionParser::list() {
  const int line = tokens_.next().line;
  std::vector<ExpressionPtr> items;
  while (!tokens_.is_sign("]")) {
    items.push_back(expression());
    if (!tokens_.skip_sign(",")) break;
  }
  tokens_.expect_sign("]");
  const int height = height_of(items);
  return made(SequenceLiteral{std::move(items), false}, line, height);
}

ExpressionPtr ExpressionParser::dict() {
  const int line = tokens_.next().line;
  DictLiteral dict;
  int height = 0;
  while (!tokens_.is_sign("}")) {
    ExpressionPtr key = expression();
    tokens_.expect_sign(":");
    ExpressionPtr value = expression();
    height = std::max({height, key->height, value->height});
    dict.items.emplace_back(std::move(key), std::move(value));
    if (!tokens_.skip_sign(",")) break;
  }
  tokens_.expect_sign("}");
  return made(std::move(dict), line, height);
}

ExpressionPtr ExpressionParser::call(ExpressionPtr callee) {
  const int line = tokens_.line();
  CallArguments with = arguments();
  const int height = std::max(callee->height, height_of(with));
  return made(Call{std::move(callee), std::move(with)}, line, height);
}

ExpressionPtr ExpressionParser::postfix(ExpressionPtr object) {
  while (true) {
    if (tokens_.is_sign(".")) {
      object = attribute(std::move(object));
    } else if (tokens_.is_sign("[")) {
      object = subscript(std::move(object));
    } else if (tokens_.is_sign("(")) {
      object = call(std::move(object));
    } else {
      return object;
    }
  }
}

ExpressionPtr ExpressionParser::filtered(ExpressionPtr object) {
  while (true) {
    if (tokens_.skip_sign("|")) {
      object = filter(std::move(object));
    } else if (tokens_.skip_name("is")) {
      object = test(std::move(object));
    } else if (tokens_.is_sign("(")) {
      object = call(std::move(object));
    } else {
      return object;
    }
  }
}

ExpressionPtr ExpressionParser::filters(bool begins_with_name) {
  ExpressionPtr all;
  if (begins_with_name) all = filter(nullptr);
  while (tokens_.skip_sign("|")) all = filter(std::move(all));
  return all;
}

ExpressionPtr ExpressionParser::filter(ExpressionPtr object) {
  const int line = tokens_.line();
  std::string called = dotted_name();
  CallArguments with = tokens_.is_sign("(") ? arguments() : CallArguments{};
  const int height = std::max(height_of(object), height_of(with));
  return made(Filter{std::move(object), std::move(called), std::move(with)}, line, height);
}

ExpressionPtr ExpressionParser::test(ExpressionPtr object) {
  const int line = tokens_.line();
  const bool is_negated = tokens_.skip_name("not");
  std::string called = dotted_name();
  CallArguments with;
  if (tokens_.is_sign("(")) {
    with = arguments();
  } else if ((tokens_.is(TokenKind::name) || tokens_.is(TokenKind::string) || tokens_.is(TokenKind::number) ||
              tokens_.is_sign("[") || tokens_.is_sign("{")) &&
             !tokens_.is_name_of({"else", "or", "and"})) {
    if (tokens_.is_name("is")) tokens_.fail("tests can't be chained with is");
    with.positional.push_back(postfix(primary()));
  }
  const int height = std::max(object->height, height_of(with));
  ExpressionPtr result = made(Test{std::move(object), std::move(called), std::move(with)}, line, height);
  return is_negated ? made(Unary{UnaryOperator::negation, std::move(result)}, line, height + 1) : std::move(result);
}

ExpressionPtr ExpressionParser::attribute(ExpressionPtr object) {
  const int line = tokens_.next().line, height = object->height;
  if (tokens_.is(TokenKind::name)) return made(AttributeOf{std::move(object), tokens_.next().text}, line, height);
  if (!tokens_.is(TokenKind::number) || !std::holds_alternative<std::int64_t>(tokens_.current().number))
    tokens_.fail_unexpected("a name or a number");
  ExpressionPtr key = literal(std::get<std::int64_t>(tokens_.next().number), line);
  return made(ItemOf{std::move(object), std::move(key)}, line, height);
}

ExpressionPtr ExpressionParser::subscript(ExpressionPtr object) {
  const int line = tokens_.next().line;
  if (tokens_.is_sign(":")) return slice(std::move(object), nullptr);
  std::vector<ExpressionPtr> keys;
  bool is_tuple = false;
  while (!tokens_.is_sign("]")) {
    keys.push_back(expression());
    if (keys.size() == 1 && tokens_.is_sign(":")) return slice(std::move(object), std::move(keys.front()));
    if (!tokens_.skip_sign(",")) break;
    is_tuple = true;
  }
  if (keys.empty()) tokens_.fail_unexpected("an index");
  tokens_.expect_sign("]");
  const int height = std::max(object->height, height_of(keys));
  ExpressionPtr key = is_tuple ? made(SequenceLiteral{std::move(keys), true}, line, height) : std::move(keys.front());
  return made(ItemOf{std::move(object), std::move(key)}, line, height + 1);
}

ExpressionPtr ExpressionParser::slice(ExpressionPtr object, ExpressionPtr start) {
  const int line = tokens_.line();
  tokens_.expect_sign(":");
  ExpressionPtr stop, step;
  if (!tokens_.is_sign(":") && !is_slice_end()) stop = expression();
  if (tokens_.skip_sign(":") && !is_slice_end()) step = expression();
  tokens_.expect_sign("]");
  const int height = std::max({object->height, height_of(start), height_of(stop), height_of(step)});
  return made(Slice{std::move(object), std::move(start), std::move(stop), std::move(step)}, line, height);
}

CallArguments ExpressionParser::arguments() {
  tokens_.expect_sign("(");
  CallArguments result;
  while (!tokens_.is_sign(")")) {
    argument(result);
    if (!tokens_.skip_sign(",")) break;
  }
  tokens_.expect_sign(")");
  return result;
}

void ExpressionParser::argument(CallArguments& arguments) {
  const auto require = [&](bool holds) {
    if (!holds) tokens_.fail("arguments of a call come in an order that can't be: values, values by name, *, **");
  };
  if (tokens_.skip_sign("*")) {
    require(!arguments.more_positional && !arguments.more_named);
    arguments.more_positional = expression();
  } else if (tokens_.skip_sign("**")) {
    require(!arguments.more_named);
    arguments.more_named = expression();
  } else if (tokens_.is(TokenKind::name) && tokens_.look().is(TokenKind::sign, "=")) {
    require(!arguments.more_named);
    std::string called = tokens_.next().text;
    tokens_.next();
    arguments.named.emplace_back(std::move(called), expression());
  } else {
    require(!arguments.more_positional && !arguments.more_named && arguments.named.empty());
    arguments.positional.push_back(expression());
  }
}

std::string ExpressionParser::dotted_name() {
  std::string result = tokens_.expect_any_name();
  while (tokens_.skip_sign(".")) result += "." + tokens_.expect_any_name();
  return result;
}

}  // namespace monomorph::data::jinja
