#include "data/text/pattern_translation.hpp"

#include "data/text/pattern_classes.hpp"

#include <fmt/format.h>

#include <cctype>

namespace monomorph::data {
namespace {

constexpr int deepest_nesting = 200;

std::string literal(char32_t code_point) {
  const bool is_plain = code_point < 0x80 && std::isalnum(static_cast<int>(code_point));
  return is_plain ? std::string(1, static_cast<char>(code_point))
                  : fmt::format("\\x{{{:x}}}", std::uint32_t{code_point});
}

/// What (?imx) sets; it holds to the end of the group.
struct Options {
  bool caseless = false;
  bool dot_is_any = false;  ///< m, which in the other languages is s
  bool extended = false;
};

class Translator {
 public:
  explicit Translator(std::string_view pattern) : reader_(pattern), classes_(reader_) {}

  std::string translate() {
    std::string result = alternatives(Options{});
    if (!reader_.at_end()) reader_.throw_malformed("a ) has no (");
    return result;
  }

 private:
  /// All up to the end of the group. Options set within hold for the alternatives that follow, too: they open a group.
  std::string alternatives(Options options) {
    if (++depth_ > deepest_nesting) reader_.throw_unsupported("groups nested too deep");
    std::string result;
    std::size_t n_open = 0;
    while (!reader_.at_end() && reader_.peek() != ')') {
      if (skip_comment(options)) continue;
      if (reader_.skip_if("|")) {
        result += '|';
      } else if (const auto changed = lone_options(options)) {
        options = *changed;
        result += options.caseless ? "(?i:" : "(?-i:";
        ++n_open;
      } else {
        result += quantified(atom(options));
      }
    }
    --depth_;
    return result.append(n_open, ')');
  }

  bool skip_comment(const Options& options) {
    if (reader_.skip_if("(?#")) {
      reader_.take_until(')');
      return true;
    }
    if (!options.extended) return false;
    if (reader_.peek() == '#') {
      while (!reader_.at_end() && reader_.take() != U'\n') {
      }
      return true;
    }
    const bool is_space = std::isspace(static_cast<unsigned char>(reader_.peek()));
    if (is_space) reader_.skip(1);
    return is_space;
  }

  /// The letters of (?i-m; nothing, and nothing taken, if it is another kind of group.
  std::optional<Options> option_letters(Options options) {
    const std::size_t begin = reader_.position();
    if (!reader_.skip_if("(?")) return std::nullopt;
    bool on = true;
    for (;; reader_.skip(1)) {
      switch (reader_.peek()) {
        case '-':
          on = false;
          continue;
        case 'i':
          options.caseless = on;
          continue;
        case 'm':
          options.dot_is_any = on;
          continue;
        case 'x':
          options.extended = on;
          continue;
        case ')':
        case ':':
          if (reader_.position() > begin + 2) return options;
          [[fallthrough]];
        default:
          reader_.go_back_to(begin);
          return std::nullopt;
      }
    }
  }

  std::optional<Options> lone_options(Options options) {
    const std::size_t begin = reader_.position();
    const auto changed = option_letters(options);
    if (changed && reader_.skip_if(")")) return changed;
    reader_.go_back_to(begin);
    return std::nullopt;
  }

  std::string closed(std::string group) {
    if (!reader_.skip_if(")")) reader_.throw_malformed("a ) is missing");
    return group += ')';
  }

  std::string group(const Options& options) {
    if (const auto changed = option_letters(options)) {
      reader_.skip(1);
      return closed((changed->caseless ? "(?i:" : "(?-i:") + alternatives(*changed));
    }
    for (const char* opening : {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!"}) {
      if (reader_.skip_if(opening)) return closed(opening + alternatives(options));
    }
    if (reader_.skip_if("(?<")) {
      const std::string name(reader_.take_until('>'));
      return closed("(?<" + name + ">" + alternatives(options));
    }
    if (reader_.next_is("(?") || reader_.next_is("(*")) {
      reader_.throw_unsupported(fmt::format("the group ({}{}…)", reader_.peek(1), reader_.peek(2)));
    }
    reader_.skip(1);
    return closed("(" + alternatives(options));
  }

  std::string atom(const Options& options) {
    switch (reader_.peek()) {
      case '(':
        return group(options);
      case '[':
        reader_.skip(1);
        return without_case(classes_.brackets(options.caseless), options);
      case '\\':
        reader_.skip(1);
        return escape(options);
      case '.':
        reader_.skip(1);
        return options.dot_is_any ? "(?s:.)" : "[^\\n]";
      case '^':
        reader_.skip(1);
        return "(?m:^)";
      case '$':
        reader_.skip(1);
        return "(?m:$)";
      case '*':
      case '+':
      case '?':
        reader_.throw_malformed("there is nothing to repeat");
      default:
        return literal(reader_.take());
    }
  }

  /// Sets of characters are closed under case, where that is asked for, before they are written.
  static std::string without_case(const std::string& set, const Options& options) {
    return options.caseless ? "(?-i:" + set + ")" : set;
  }

  std::string escape(const Options& options) {
    const char32_t letter = reader_.take();
    if (const auto set = classes_.escape(letter)) return without_case(PatternClassReader::written(*set), options);
    if (letter >= '1' && letter <= '9') {
      reader_.go_back_to(reader_.position() - 1);
      return fmt::format("\\g{{{}}}", *reader_.take_number());
    }
    if (letter == '0') reader_.throw_unsupported("an octal escape");
    if (const auto character = reader_.take_character_escape(letter)) return literal(*character);
    switch (letter) {
      case 'A':
      case 'z':
      case 'Z':
      case 'X':
        return fmt::format("\\{}", static_cast<char>(letter));
      case 'R':
        return "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])";
      case 'N':
        return "[^\\n]";
      case 'O':
        return "(?s:.)";
      case 'b':
      case 'B':
        return word_boundary(letter == 'B');
      case 'k':
        if (reader_.skip_if("<")) return fmt::format("\\k<{}>", reader_.take_until('>'));
        [[fallthrough]];
      default:
        reader_.throw_unsupported(fmt::format("\\{}", static_cast<char>(letter)));
    }
  }

  std::string word_boundary(bool negated) {
    const std::string word = PatternClassReader::written(classes_.word());
    return fmt::format("(?:(?<={0})(?{1}{0})|(?<!{0})(?{2}{0}))", word, negated ? '=' : '!', negated ? '!' : '=');
  }

  /// `atom` with the quantifiers that follow it.
  std::string quantified(std::string atom) {
    for (bool is_first = true;; is_first = false) {
      const std::string once = is_first ? atom : "(?:" + atom + ")";
      const char next = reader_.peek();
      if (next == '*' || next == '+' || next == '?') {
        reader_.skip(1);
        atom = once + next;
        if (reader_.peek() == '?' || reader_.peek() == '+') atom += static_cast<char>(reader_.take());
        continue;
      }
      const auto interval = take_interval();
      if (!interval) return atom;
      const auto [least, most] = *interval;
      atom = once + (most ? fmt::format("{{{},{}}}", least, *most) : fmt::format("{{{},}}", least));
      // A + after an interval repeats it, and a ? after a fixed one makes it optional: that is done in the next round.
      if (reader_.peek() == '?' && most != least) atom += static_cast<char>(reader_.take());
    }
  }

  struct Interval {
    std::size_t least;
    std::optional<std::size_t> most;
  };

  /// {n}, {n,}, {,m} or {n,m}; nothing, and nothing taken, if it is none of these: then the brace stands for itself.
  std::optional<Interval> take_interval() {
    const std::size_t begin = reader_.position();
    if (reader_.skip_if("{")) {
      const auto least = reader_.take_number();
      const bool has_comma = reader_.skip_if(",");
      const auto most = has_comma ? reader_.take_number() : least;
      if (reader_.skip_if("}") && (least || most)) return Interval{least.value_or(0), most};
    }
    reader_.go_back_to(begin);
    return std::nullopt;
  }

  PatternReader reader_;
  PatternClassReader classes_;
  int depth_ = 0;
};

}  // namespace

std::string translate_pattern(std::string_view pattern) { return Translator(pattern).translate(); }

}  // namespace monomorph::data
