#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/number_text.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <CLI/CLI.hpp>

using namespace monomorph;
using namespace monomorph::testing;

namespace {

enum class Colour { red, green };

struct Options {
  double share = 0.5;
  std::optional<std::int64_t> count;
  std::uint64_t seed = 7;
  int threads = 1;
  Colour colour = Colour::red;

  void parse(std::vector<std::string> arguments) {
    CLI::App program("does nothing", "program");
    add_number(program, "--share", share, "of it", {1e-6, 1})->capture_default_str();
    add_number(program, "--count", count, "of them");
    add_number(program, "--seed", seed, "of what is drawn")->capture_default_str();
    add_number(program, "--threads", threads, "that work", {.least = 1});
    add_choice(program, "--colour", colour, "of the bike shed", {{"red", Colour::red}, {"green", Colour::green}})
        ->capture_default_str();
    arguments.insert(arguments.begin(), "program");
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    parse_command_line(program, static_cast<int>(pointers.size()), pointers.data(), "DATA-10");
    help = program.help();
  }
  std::string help;
};

std::string refusal(const std::vector<std::string>& arguments) {
  return error_of([&] { Options().parse(arguments); });
}

}  // namespace

TEST_CASE("options take numbers and words") {
  Options options;
  options.parse({});
  CHECK((options.share == 0.5 && !options.count && options.seed == 7 && options.colour == Colour::red));
  options.parse(
      {"--share", "1e-6", "--count=0", "--seed", "18446744073709551615", "--threads", "012", "--colour", "green"});
  CHECK(options.share == 1e-6);
  CHECK(options.count == 0);
  CHECK(options.seed == 18446744073709551615u);
  CHECK(options.threads == 12);
  CHECK(options.colour == Colour::green);
}

TEST_CASE("what is no number, not finite or out of bounds is refused in words") {
  const std::string whole = "a whole number from 0 to ", see = "; see program --help";
  CHECK(refusal({"--share", "nan"}) == "[DATA-10] --share must be a number from 0.000001 to 1, not \"nan\"" + see);
  CHECK(refusal({"--count", "9223372036854775808"}) ==
        "[DATA-10] --count must be " + whole + "9,223,372,036,854,775,807, not \"9223372036854775808\"" + see);
  CHECK(refusal({"--seed", "18446744073709551616"}) ==
        "[DATA-10] --seed must be " + whole + "18,446,744,073,709,551,615, not \"18446744073709551616\"" + see);
  CHECK(refusal({"--threads", "2147483648"}) ==
        "[DATA-10] --threads must be a whole number from 1 to 2,147,483,647, not \"2147483648\"" + see);
  CHECK(refusal({"--colour", "blue"}) == "[DATA-10] --colour must be red or green, not \"blue\"" + see);
  for (const std::string text : {"inf", "-inf", "1e400", "-0.1", "1.1", "0x1p-2", " 0.5", "0.5 ", "", "half"})
    CHECK(contains(refusal({"--share", text}), "not \"" + text + "\""));
  for (const std::string text : {"-1", "1.0", "1e3", "0x10", "+1", "1,000", " 1", "", "nan"})
    for (const std::string option : {"--count", "--seed", "--threads"})
      CHECK(contains(refusal({option, text}), "not \"" + text + "\""));
  CHECK(contains(refusal({"a\x1b[2J\nb"}), "[DATA-10]"));  // error_of: of one line
  CHECK_FALSE(contains(refusal({"a\x1b[2J\nb"}), "\x1b"));
}

TEST_CASE("--help has bounds, words and defaults as people write them") {
  Options options;
  options.parse({});
  CAPTURE(options.help);
  for (const std::string part : {"--share NUMBER=0.5", "of it, from 0.000001 to 1", "--seed NUMBER=7",
                                 "that work, from 1 to 2,147,483,647", "--colour red|green=red"})
    CHECK(contains(options.help, part));
}

TEST_CASE("numbers are written as people write them, and exactly") {
  CHECK(format_number(std::int64_t{0}) == "0");
  CHECK(format_number(std::int64_t{999}) == "999");
  CHECK(format_number(std::int64_t{-1000}) == "-1,000");
  CHECK(format_number(std::int64_t{-999999}) == "-999,999");
  CHECK(format_number(std::uint64_t{18446744073709551615u}) == "18,446,744,073,709,551,615");
  CHECK(format_number(1e6) == "1,000,000");
  CHECK(format_number(1e-9) == "0.000000001");
  CHECK(format_number(1234.5625) == "1,234.5625");
  CHECK(format_number(1e-12) == "1e-12");
  CHECK(format_number(1e300) == "1e+300");
}
