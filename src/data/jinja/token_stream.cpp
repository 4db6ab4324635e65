#include "data/jinja/token_stream.hpp"

#include "data/text/python_text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data::jinja {

bool TokenStream::is_name_of(std::initializer_list<std::string_view> names) const {
  return is(TokenKind::name) && std::ranges::find(names, current().text) != names.end();
}

void TokenStream::expect_sign(std::string_view sign) {
  if (!skip_sign(sign)) fail_unexpected(sign);
}
void TokenStream::expect_name(std::string_view name) {
  if (!skip_name(name)) fail_unexpected(name);
}
void TokenStream::expect(TokenKind kind, std::string_view shown) {
  if (!is(kind)) fail_unexpected(shown);
  next();
}
std::string TokenStream::expect_any_name() {
  if (!is(TokenKind::name)) fail_unexpected("a name");
  return next().text;
}

void TokenStream::fail_unexpected(std::string_view wanted) const {
  const std::string shown = is(TokenKind::end)      ? current().text
                            : is(TokenKind::string) ? "the string " + python::repr_of_text(current().text.substr(0, 60))
                                                    : python::repr_of_text(current().text.substr(0, 60));
  fail(fmt::format("{} where {} must be", shown, wanted));
}

}  // namespace monomorph::data::jinja
