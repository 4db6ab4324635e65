#pragma once
// What the command lines of all programs have in common. CLI11's own conversion of numbers takes "nan", ends 2^64 at
// 2^64 - 1, makes -1 a large positive number and reads 010 as 8, so no program leaves numbers to it.
#include <monomorph/core/error_id.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace monomorph {

/// The bounds of a number, both included.
template <class Number> struct Bounds {
  Number least = 0;
  Number most = std::numeric_limits<Number>::max();
};

namespace detail {

template <class Target> struct NumberOf { using type = Target; };
template <class Number> struct NumberOf<std::optional<Number>> { using type = Number; };
template <class Target> using number_of = typename NumberOf<Target>::type;

template <class Number>
using Widest = std::conditional_t<std::is_floating_point_v<Number>, double,
                                  std::conditional_t<std::is_signed_v<Number>, std::int64_t, std::uint64_t>>;

/// What an option takes in place of a number, if anything.
struct WordForNumber {
  std::string word;
  std::function<void()> set;
};

/// Defined for std::int64_t, std::uint64_t and double.
template <class Number>
CLI::Option* add_number(CLI::App& command, const std::string& name, const std::string& what, Bounds<Number> bounds,
                        std::function<void(Number)> set, std::function<std::optional<Number>()> get,
                        const WordForNumber& instead = {});

CLI::Option* add_choice(CLI::App& command, const std::string& name, const std::string& what,
                        std::vector<std::string> words, std::function<void(std::size_t)> set,
                        std::function<std::optional<std::size_t>()> get);

}  // namespace detail

/// Adds an option that takes a number, or nothing if the target is an optional and the option is not given. --help says
/// the bounds after `what`. A text that is no decimal number, is not finite or lies outside the bounds is refused, and
/// the message has the bounds as people write them.
/// @return the option; its capture_default_str() shows the target's value in --help
template <class Target>
CLI::Option* add_number(CLI::App& command, const std::string& name, Target& target, const std::string& what,
                        Bounds<detail::number_of<Target>> bounds = {}) {
  using Number = detail::number_of<Target>;
  using Wide = detail::Widest<Number>;
  return detail::add_number<Wide>(
      command, name, what, {bounds.least, bounds.most},
      [&target](Wide number) { target = static_cast<Number>(number); },
      [&target] {
        const std::optional<Number> number = target;
        return number ? std::optional<Wide>(*number) : std::nullopt;
      });
}

/// Adds an option that takes a whole number, or a word, which leaves the target without one.   @return as add_number
inline CLI::Option* add_number_or(CLI::App& command, const std::string& name, std::optional<std::int64_t>& target,
                                  const std::string& word, const std::string& what, Bounds<std::int64_t> bounds = {}) {
  return detail::add_number<std::int64_t>(
      command, name, what, bounds, [&target](std::int64_t number) { target = number; }, [&target] { return target; },
      {word, [&target] { target.reset(); }});
}

/// Adds an option that takes one of a few words, each of which stands for a value. Other words are refused, and the
/// message has them all.
/// @return as add_number
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& target, const std::string& what,
                        std::vector<std::pair<std::string, std::type_identity_t<Value>>> choices) {
  std::vector<std::string> words;
  std::vector<Value> values;
  for (auto& [word, value] : choices) {
    words.push_back(std::move(word));
    values.push_back(value);
  }
  const auto get = [&target, values]() -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == target) return i;
    return std::nullopt;
  };
  return detail::add_choice(
      command, name, what, std::move(words), [&target, values](std::size_t i) { target = values[i]; }, get);
}

/// Has the options of a program take what its command line says, and answers --help.
/// @param id of the message about a wrong command line, such as "RUN-13"
/// @return whether the program is to go on: false after --help
/// @throws UsageError with this id, in one line; [FILE-NN] if the help cannot be written
bool parse_command_line(CLI::App& program, int argc, char** argv, ErrorId id);

}  // namespace monomorph
