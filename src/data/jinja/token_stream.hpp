#pragma once
#include "data/jinja/lexer.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data::jinja {

/// Tokens in their order, the next of which is looked at.
class TokenStream {
 public:
  explicit TokenStream(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  int line() const { return current().line; }
  Token next() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }

  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_sign(std::string_view sign) const { return current().is(TokenKind::sign, sign); }
  bool is_name(std::string_view name) const { return current().is(TokenKind::name, name); }
  bool is_name_of(std::initializer_list<std::string_view> names) const;
  bool skip_sign(std::string_view sign) { return skip_if(is_sign(sign)); }
  bool skip_name(std::string_view name) { return skip_if(is_name(name)); }

  /// @throws SyntaxError the next token is another one
  void expect_sign(std::string_view sign);
  void expect_name(std::string_view name);
  void expect(TokenKind kind, std::string_view shown);
  std::string expect_any_name();
  [[noreturn]] void fail(std::string what) const { throw SyntaxError{line(), std::move(what)}; }
  [[noreturn]] void fail_unexpected(std::string_view wanted) const;

 private:
  bool skip_if(bool skips) {
    if (skips) next();
    return skips;
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace monomorph::data::jinja
