// What Python does, as far as prompts of lm-evaluation-harness depend on it. The values are CPython 3.11's.
#include "data/text/python_text.hpp"
#include "train/tasks/python_random.hpp"

#include "support/catch.hpp"

using namespace monomorph::data;
using namespace monomorph::train;

TEST_CASE("samples are those of Python's random.Random(1234).sample, one after the other") {
  using Indices = std::vector<std::size_t>;
  PythonRandom random(1234);
  CHECK(random.sample(9, 3) == Indices{7, 1, 0});
  CHECK(random.sample(40, 6) == Indices{5, 37, 2, 39, 6, 22});
  CHECK(random.sample(1000, 4) == Indices{242, 17, 31, 807});
  CHECK(random.sample(100'000, 20) == Indices{2076,  45362, 84976, 81694, 63471, 80716, 60758, 19471, 11965, 23998,
                                              93508, 14996, 1916,  65940, 63799, 32745, 8462,  87458, 70921, 61066});
  CHECK(random.sample(5, 5) == Indices{0, 4, 2, 3, 1});
}

TEST_CASE("texts are stripped, capitalised, replaced and counted as Python does it") {
  CHECK(python::right_stripped("a b \t\n\u00a0\u3000") == "a b");
  CHECK(python::stripped("\x1c \u2003a b\u2028") == "a b");
  CHECK(python::stripped(" \n").empty());
  CHECK(python::capitalized("éCOLE D'ÉTÉ x") == "École d'été x");
  CHECK(python::capitalized("ünAb").starts_with("Ünab"));
  CHECK(python::capitalized("1A") == "1a");
  CHECK(python::capitalized("").empty());
  CHECK(replace_all("a   b", "  ", " ") == "a  b");
  CHECK(replace_all("aaa", "aa", "b") == "ba");
  CHECK(python::length_of("né\u3000") == 3);
}
