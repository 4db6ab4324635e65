// Numbers between bounds, of which every one within can be written, and none other.
#include "grammar_texts.hpp"

#include "support/catch.hpp"

#include <fmt/format.h>

#include <cmath>

using namespace monomorph::train;
using monomorph::train::testing::accepts;
using monomorph::train::testing::grammar_of_schema;

TEST_CASE("whole numbers between bounds are those between them") {
  const std::pair<int, int> ranges[] = {{0, 0},   {0, 9},     {5, 5},     {3, 17},       {99, 1001}, {100, 999},
                                        {-7, 12}, {-120, -9}, {-1000, 0}, {-1234, 1234}, {1, 1000},  {-1, 1}};
  for (const auto& [least, most] : ranges) {
    const ByteGrammar grammar = grammar_of_schema(
                          fmt::format(R"({{"type":"integer","minimum":{},"maximum":{}}})", least, most)),
                      open = grammar_of_schema(
                          fmt::format(R"({{"type":"integer","exclusiveMinimum":{},"exclusiveMaximum":{}}})", least - 1,
                                      most + 1));
    for (int number = -1300; number <= 1300; ++number) {
      const bool within = least <= number && number <= most;
      if (accepts(grammar, std::to_string(number)) != within) FAIL_CHECK(least << ' ' << most << ' ' << number);
      if (accepts(open, std::to_string(number)) != within) FAIL_CHECK(least << ' ' << most << ' ' << number << " open");
    }
    for (const char* const other : {"1.5", "-", "", "00", "1e1", "-0", "+1"}) CHECK_FALSE(accepts(grammar, other));
  }
}

TEST_CASE("numbers between bounds are those between them, to the last digit") {
  const double bounds[] = {-12.5, -3, -0.125, 0, 0.0625, 1, 9.75, 10, 100.25};
  for (const double least : bounds)
    for (const double most : bounds)
      for (const bool exclusive : {false, true}) {
        if (least >= most) continue;
        const ByteGrammar grammar =
            grammar_of_schema(fmt::format(R"({{"type":"number","{0}inimum":{1},"{2}aximum":{3}}})",
                                          exclusive ? "exclusiveM" : "m", least, exclusive ? "exclusiveM" : "m", most));
        for (int i = -16 * 16; i <= 101 * 16; ++i) {
          const double number = i / 16.0;
          const bool within = exclusive ? least < number && number < most : least <= number && number <= most;
          const std::string text = fmt::format("{}", number);
          if (accepts(grammar, text) != within) FAIL_CHECK(least << ' ' << most << ' ' << exclusive << ' ' << text);
          const std::string longer = fmt::format("{:.6f}", number);
          if (number != 0 && accepts(grammar, longer) != within) FAIL_CHECK(least << ' ' << most << ' ' << longer);
        }
      }
  const ByteGrammar tenth = grammar_of_schema(R"({"type":"number","minimum":0.1,"maximum":0.1})");
  CHECK(accepts(tenth, "0.1"));
  CHECK(accepts(tenth, "0.10000000000000000000"));
  CHECK_FALSE(accepts(tenth, "0.10000000000000000001"));
  CHECK_FALSE(accepts(tenth, "0.09999999999999999999"));
}

TEST_CASE("bounds may be written in any way, and lie beyond all that is written") {
  const ByteGrammar grammar = grammar_of_schema(R"({"type":"integer","minimum":1.5e1,"maximum":2500E-2})");
  CHECK(accepts(grammar, "15"));
  CHECK(accepts(grammar, "25"));
  CHECK_FALSE(accepts(grammar, "14"));
  CHECK_FALSE(accepts(grammar, "26"));
  const ByteGrammar wide = grammar_of_schema(R"({"type":"number","minimum":-1e60,"maximum":1e60})");
  CHECK(accepts(wide, "-9999999999999999999.5"));
  CHECK(accepts(wide, "0"));
  CHECK(decimal_of("-0.00") == Decimal{});
  CHECK(decimal_of("12.50e-3") == decimal_of("0.0125"));
  CHECK(*decimal_of("-2") < *decimal_of("-1.5"));
  CHECK(*decimal_of("10") > *decimal_of("9.99"));
  CHECK_FALSE(decimal_of("1e1000"));
  CHECK_FALSE(decimal_of("1e99999999999999999999"));
}
