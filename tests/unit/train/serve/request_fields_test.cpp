#include "train/serve/request_fields.hpp"

#include "support/catch.hpp"
#include "train/serve/api_error.hpp"

#include <string>

using namespace monomorph::train;
using namespace std::string_literals;

namespace {

/// What a client is told of its body; empty if it is taken.
std::string refusal(const std::string& body) {
  try {
    const RequestFields fields(body);
  } catch (const ApiError& error) {
    CHECK(error.status() == 400);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a body that is no JSON object is a mistake of the client's, and said in one line") {
  CHECK(refusal(R"({"model": "a"})").empty());
  CHECK(refusal("[1]") == "the request's body must be a JSON object");
  CHECK(refusal(R"({"model": "a"})"s + "\0"s + R"({"model": "b"})") ==
        "the request's body is no JSON: there is a NUL byte (column 15)");
  CHECK(refusal(R"({"temperature": 1e400})") ==
        "the request's body is no JSON: number overflow parsing '1e400' (column 21)");
  const std::string cut = refusal("{\n\"model\": ");
  CHECK(cut.starts_with("the request's body is no JSON: "));
  CHECK(cut.find("json.exception") == std::string::npos);
  CHECK(cut.find('\n') == std::string::npos);
  CHECK(refusal(std::string(1'000'000, '[')) == "the request's JSON is nested more than 64 levels deep");
}

TEST_CASE("what a client has called its fields breaks no line of what it is told") {
  const RequestFields fields(R"({"a\nb\u007f": 1})");
  try {
    fields.finish();
    FAIL("nobody has read the field");
  } catch (const ApiError& error) {
    CHECK(error.what() == "unknown field a\\x0ab\\x7f"s);
    CHECK(error.json().find("\"param\":\"a\\nb") != std::string::npos);
  }
}
