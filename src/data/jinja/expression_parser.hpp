#pragma once
#include "data/jinja/syntax.hpp"
#include "data/jinja/token_stream.hpp"

namespace monomorph::data::jinja {

/// Reads expressions, with Jinja's precedence.
class ExpressionParser {
 public:
  explicit ExpressionParser(TokenStream& tokens) : tokens_(tokens) {}

  ExpressionPtr expression();
  /// An expression, or several with commas between, which are a tuple; it ends at a tag's end, `)` or the name.
  /// @param with_conditional `a if b else c` is one
  ExpressionPtr tuple(bool with_conditional = true, std::string_view end_name = {}, bool may_be_empty = false);
  /// One expression or several with commas between, as the text of all.
  ExpressionPtr printed();
  /// The filters of a block, over what it renders; a `|` comes first or the filter's name.
  ExpressionPtr filters(bool begins_with_name);
  /// The names that were read so far in `varargs`, `kwargs` and `caller`, for the macros that read them.
  int varargs_read = 0, kwargs_read = 0, caller_read = 0;

 private:
  ExpressionPtr conditional();
  ExpressionPtr either();
  ExpressionPtr both();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr concatenation();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filters = true);
  ExpressionPtr primary();
  ExpressionPtr name();
  ExpressionPtr list();
  ExpressionPtr dict();
  ExpressionPtr call(ExpressionPtr callee);
  ExpressionPtr postfix(ExpressionPtr object);
  ExpressionPtr filtered(ExpressionPtr object);
  ExpressionPtr filter(ExpressionPtr object);
  ExpressionPtr test(ExpressionPtr object);
  ExpressionPtr attribute(ExpressionPtr object);
  ExpressionPtr subscript(ExpressionPtr object);
  ExpressionPtr slice(ExpressionPtr object, ExpressionPtr start);
  CallArguments arguments();
  void argument(CallArguments& arguments);
  std::string dotted_name();
  bool is_slice_end() const { return tokens_.is_sign("]") || tokens_.is_sign(","); }

  TokenStream& tokens_;
  int depth_ = 0;
};

}  // namespace monomorph::data::jinja
