#include "data/text/regular_expression.hpp"

#include "data/text/characters.hpp"
#include "data/text/pattern_translation.hpp"
#include "data/text/pcre2_class.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

namespace monomorph::data {
namespace {

// Enough for every pattern that is meant for tokenising; one that backtracks without end is stopped in a second or so.
constexpr std::uint32_t most_steps_a_match = 20'000'000;
constexpr std::uint32_t most_heap_kib = 256 * 1024;
constexpr std::size_t largest_jit_stack = std::size_t{8} << 20;

struct Free {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};
template <class T> using Owned = std::unique_ptr<T, Free>;

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

std::string text_of_error(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

struct Compilation {
  Owned<pcre2_code> code;
  int error = 0;
};

Compilation compile(std::string_view pattern) {
  const Owned<pcre2_compile_context> context(pcre2_compile_context_create(nullptr));
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  Compilation result;
  std::size_t offset = 0;
  result.code.reset(pcre2_compile(units(pattern), pattern.size(), PCRE2_UTF, &result.error, &offset, context.get()));
  if (result.code) pcre2_jit_compile(result.code.get(), PCRE2_JIT_COMPLETE);  // without it, matching is slower only
  return result;
}

/// What matching needs besides the pattern; one per thread.
struct Workspace {
  Owned<pcre2_match_context> context{pcre2_match_context_create(nullptr)};
  Owned<pcre2_jit_stack> stack{pcre2_jit_stack_create(std::size_t{32} << 10, largest_jit_stack, nullptr)};
  Owned<pcre2_match_data> data{pcre2_match_data_create(1, nullptr)};

  Workspace() {
    pcre2_set_match_limit(context.get(), most_steps_a_match);
    pcre2_set_heap_limit(context.get(), most_heap_kib);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

/// The result of pcre2_match; the interpreter takes over where the compiled code lacks stack.
int match(const pcre2_code* code, std::string_view text, std::size_t begin, std::size_t*& bounds) {
  static thread_local const Workspace workspace;
  bounds = pcre2_get_ovector_pointer(workspace.data.get());
  const auto attempt = [&](std::uint32_t options) {
    return pcre2_match(code, units(text), text.size(), begin, options, workspace.data.get(), workspace.context.get());
  };
  const int result = attempt(PCRE2_NO_UTF_CHECK);
  return result == PCRE2_ERROR_JIT_STACKLIMIT ? attempt(PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT) : result;
}

}  // namespace

struct RegularExpression::Compiled {
  Owned<pcre2_code> code;
};

RegularExpression::RegularExpression(std::string_view pattern) : pattern_(pattern) {
  auto [code, error] = compile(translate_pattern(pattern));
  if (error == PCRE2_ERROR_LOOKBEHIND_NOT_FIXED_LENGTH) {
    throw UsageError("TOK-02", fmt::format("the regular expression {} looks behind at a text of no fixed length, which "
                                           "is not supported; write it without",
                                           in_quotes(pattern_)));
  }
  if (!code) {
    throw UsageError("TOK-10", fmt::format("{} is no regular expression: {}; mend it", in_quotes(pattern_),
                                           text_of_error(error)));
  }
  compiled_ = std::make_unique<const Compiled>(Compiled{std::move(code)});
}

RegularExpression::RegularExpression(RegularExpression&&) noexcept = default;
RegularExpression& RegularExpression::operator=(RegularExpression&&) noexcept = default;
RegularExpression::~RegularExpression() = default;

std::optional<TextSpan> RegularExpression::find(std::string_view text, std::size_t begin) const {
  std::size_t* bounds = nullptr;
  const int result = match(compiled_->code.get(), text, begin, bounds);
  if (result >= 0) return TextSpan{bounds[0], bounds[1]};
  if (result == PCRE2_ERROR_NOMATCH) return std::nullopt;
  throw Error("TOK-11", fmt::format("the tokenizer's regular expression {} takes too many steps on a text of {} bytes, "
                                    "at byte {} ({}); use a tokenizer without it",
                                    in_quotes(pattern_), text.size(), begin, text_of_error(result)));
}

const CodePointSet& pcre2_class_domain() {
  static const CodePointSet domain{{0, 0xD7FF}, {0xE000, 0x3FFFF}, {0xE0000, 0xE0FFF}};
  return domain;
}

std::optional<CodePointSet> pcre2_class_members(const std::string& names) {
  const Compilation compilation = compile("[" + names + "]");
  if (!compilation.code) return std::nullopt;
  std::vector<CodePointRange> members;
  std::string character;
  std::size_t* bounds = nullptr;
  for (const auto [first, last] : pcre2_class_domain().ranges()) {
    for (char32_t code_point = first; code_point <= last; ++code_point) {
      character.clear();
      append_utf8(code_point, character);
      if (match(compilation.code.get(), character, 0, bounds) > 0) members.push_back({code_point, code_point});
    }
  }
  return CodePointSet(std::move(members));
}

}  // namespace monomorph::data
