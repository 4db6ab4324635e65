#include <monomorph/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>

#include "support/catch.hpp"

using namespace monomorph;

namespace {

template <std::size_t n> struct Literal {
  char text[n]{};
  consteval Literal(const char (&from)[n]) { std::copy_n(from, n, text); }
};

/// Whether the compiler makes an ErrorId of it.
template <Literal literal> concept MakesId = requires { typename std::bool_constant<(ErrorId(literal.text), true)>; };

}  // namespace

TEST_CASE("an id is capital letters, a hyphen and two digits") {
  for (const char* const id : {"RUN-12", "A-00", "SAFETENSORS-09"}) {
    CAPTURE(id);
    CHECK(is_error_id(id));
  }
  for (const char* const text : {"", "-12", "12", "RUN", "RUN12", "RUN-1", "RUN-123", "RUN-1a", "RUN -12", "run-12",
                                 "RUN2-12", "[RUN-12]", "RUN-12 ", "RUN-12\n", "\xc3\x84-12"}) {
    CAPTURE(text);
    CHECK_FALSE(is_error_id(text));
  }
}

TEST_CASE("the compiler refuses an id that is none") {
  STATIC_REQUIRE(MakesId<"RUN-12">);
  STATIC_REQUIRE_FALSE(MakesId<"RUN-1">);
  STATIC_REQUIRE_FALSE(MakesId<"run-12">);
  STATIC_REQUIRE_FALSE(MakesId<"[RUN-12]">);
}

TEST_CASE("ids are compared by what they say") {
  constexpr ErrorId id("RUN-12");
  STATIC_REQUIRE(id == "RUN-12");
  STATIC_REQUIRE(id != "RUN-13");
  STATIC_REQUIRE(id.text() == "RUN-12");
}

TEST_CASE("an error has its id in front of its text, and gives both back") {
  const Error error("RUN-12", "there is no data; give --data");
  CHECK(error.what() == std::string("[RUN-12] there is no data; give --data"));
  CHECK(error.id() == ErrorId("RUN-12"));
  CHECK(error.text() == "there is no data; give --data");
  CHECK(error.code() == ExitCode::failure);
  CHECK(UsageError("A-01", "").what() == std::string("[A-01] "));
  CHECK(UsageError("A-01", "").text().empty());
  CHECK(UsageError("A-01", "").code() == ExitCode::usage);
  CHECK(Error("A-01", "", ExitCode::usage).code() == ExitCode::usage);
}

TEST_CASE("an error keeps its id and its text as a copy, whose original has gone") {
  const auto copied = [] {
    const UsageError original("DATA-10", std::string(100, 'x'));
    return Error(original);
  }();
  CHECK(copied.id() == ErrorId("DATA-10"));
  CHECK(copied.text() == std::string(100, 'x'));
  CHECK(copied.code() == ExitCode::usage);
}
