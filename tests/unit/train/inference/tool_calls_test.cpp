// Calls of tools in answers that grow, in whatever pieces.
#include "train/inference/tool_calls.hpp"

#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using monomorph::train::ToolCall;
using monomorph::train::ToolCallFinder;

namespace {

/// The text, and behind it the calls, of an answer that comes in pieces of so many bytes.
std::string found_in(const std::string& answer, std::size_t piece) {
  ToolCallFinder finder({"f", "get_weather"});
  ToolCallFinder::Found found;
  for (std::size_t at = 0; at < answer.size(); at += piece) found += finder.push(answer.substr(at, piece));
  found += finder.finish();
  std::string shown = "'" + found.text + "'";
  for (const ToolCall& call : found.calls) shown += " " + call.name + call.arguments;
  return shown;
}

/// The same whatever the pieces.
std::string found_in(const std::string& answer) {
  const std::string whole = found_in(answer, answer.size() + 1);
  for (std::size_t piece = 1; piece < answer.size(); ++piece)
    if (const std::string other = found_in(answer, piece); other != whole) return other + " is not " + whole;
  return whole;
}

const std::string call = R"({"name": "f", "arguments": {"b": [1, "x"], "a": {}}})",
                  told = R"( f{"b": [1, "x"], "a": {}})";

}  // namespace

TEST_CASE("Calls between marks are found, with text around them or without") {
  const std::string marked = "<tool_call>\n" + call + "\n</tool_call>";
  CHECK(found_in(marked) == "''" + told);
  CHECK(found_in(marked + "\n" + marked + "\n") == "''" + told + told);
  CHECK(found_in("Let me see.\n\n" + marked) == "'Let me see.'" + told);
  CHECK(found_in("a " + marked + "  b " + marked + "\n c\n") == "'a  b\n c\n'" + told + told);
  CHECK(found_in("<think>\nhm\n</think>\n\n" + marked) == "'<think>\nhm\n</think>'" + told);
  // The turn ended in the place of the last mark; several calls stand between two marks.
  CHECK(found_in("<tool_call>" + call) == "''" + told);
  CHECK(found_in("<tool_call>" + call + "\n" + call + "</tool_call>") == "''" + told + told);
}

TEST_CASE("A mark within a string of a call is a part of the string") {
  const std::string quoted = R"({"name": "f", "arguments": {"a": "x</tool_call>\"</tool_call>", "b": "<tool_call>"}})",
                    quoted_told = R"( f{"a": "x</tool_call>\"</tool_call>", "b": "<tool_call>"})";
  CHECK(found_in("<tool_call>" + quoted + "</tool_call>") == "''" + quoted_told);
  CHECK(found_in("a <tool_call>" + quoted + "</tool_call> b <tool_call>" + call + "</tool_call>") ==
        "'a b'" + quoted_told + told);
  // A string that is never closed hides no call behind it.
  const std::string open_string = "<tool_call>{\"name\": \"f</tool_call>";
  CHECK(found_in(open_string) == "'" + open_string + "'");
  CHECK(found_in(open_string + " <tool_call>" + call + "</tool_call>") == "'" + open_string + "'" + told);
}

TEST_CASE("An answer that is objects and nothing else is calls") {
  CHECK(found_in(R"({"name": "get_weather", "parameters": {"place": "Zürich"}})") ==
        R"('' get_weather{"place": "Zürich"})");
  CHECK(found_in(R"( {"type": "function", "name": "f", "parameters": {}} )") == "'' f{}");
  CHECK(found_in(call + "; " + call + "\n" + call) == "''" + told + told + told);
  CHECK(found_in("[" + call + ", " + call + "]") == "''" + told + told);
  CHECK(found_in(R"({"type": "function", "function": )" + call + "}") == "''" + told);
  CHECK(found_in(R"({"arguments": "{\"a\": 1}", "name": "f"})") == R"('' f{"a": 1})");
  // A text of arguments may have white space behind it, which is no part of them, and nothing else.
  CHECK(found_in(R"({"name": "f", "arguments": "{\"a\": 1}\n"})") == R"('' f{"a": 1})");
  CHECK(found_in(R"({"name": "f", "arguments": "{\"a\": \" \"} \t\r\n "})") == R"('' f{"a": " "})");
  for (const std::string behind : {"x", "\\n}", "\\n{}", "\\u00a0", "\\f"}) {
    const std::string answer = R"({"name": "f", "arguments": "{\"a\": 1})" + behind + "\"}";
    CHECK(found_in(answer) == "'" + answer + "'");
  }
}

TEST_CASE("Arguments are handed on as the model has written them") {
  for (const std::string arguments :
       {R"({"wei":123456789012345678901234})", R"({"x": 0.12345678901234567890123, "y": -0.0, "z": 1E+05})",
        R"({"huge": [1e400, -1e400, 1e-400]})", R"({"a": 1, "a": 2})", R"({"a": "\u00e9\/é", "1e400": "1e400,]}"})",
        "{}", "{ }", "{\n  \"a\": [ 1 , {\"arguments\": {}} ]\t,\r\n  \"b\": null\n}"}) {
    const std::string as_told = "'' f" + arguments;
    CHECK(found_in(R"({"name": "f", "arguments": )" + arguments + "}") == as_told);
    CHECK(found_in(R"({"arguments" : )" + arguments + R"( , "name" : "f"})") == as_told);
    CHECK(found_in(R"({"name": "f", "id": 1e999, "\u0070arameters":)" + arguments + "}") == as_told);
    CHECK(found_in(R"([{"type": "function", "function": {"name": "f", "arguments": )" + arguments + "}}]") == as_told);
    CHECK(found_in(R"(<tool_call>{"name": "f", "arguments": )" + arguments + "}</tool_call>") == as_told);
    CHECK(found_in(R"({"name": "f", "arguments": )" + nlohmann::json(arguments).dump() + "}") == as_told);
  }
  // Of members of one name the last counts, as for readers of JSON.
  CHECK(found_in(R"({"name": "g", "arguments": 5, "name": "f", "arguments": {"a": 01}})").ends_with("01}}'"));
  CHECK(found_in(R"({"name": "g", "arguments": 5, "name": "f", "arguments": {"a": 0}})") == R"('' f{"a": 0})");
  CHECK(found_in(call + R"({"name": "get_weather", "arguments": {"a": 1e400}})") ==
        "''" + told + R"( get_weather{"a": 1e400})");
  // What is no number of JSON makes no call.
  for (const std::string number :
       {"01", "1.", ".5", "+1", "-", "1e", "1e+", "1e400e", "--1", "1 2", "NaN", "0x1", "1true"}) {
    const std::string answer = R"({"name": "f", "arguments": {"a": )" + number + "}}";
    CHECK(found_in(answer) == "'" + answer + "'");
  }
}

TEST_CASE("What is no call of a tool that there is stays text, every byte of it") {
  for (const std::string answer : {"",
                                   " ",
                                   "\n",
                                   "Hello.\n",
                                   " Hello ",
                                   "{",
                                   "[",
                                   "{\"name\"",
                                   "{ \"name\": \"f\" }",
                                   "{\"name\": \"Bob\", \"age\": 5}",
                                   "{\"name\": \"g\", \"arguments\": {}}",
                                   "{\"name\": \"f\", \"arguments\": 5}",
                                   "{\"name\": 5, \"arguments\": {}}",
                                   "{\"name\": \"f\", \"arguments\": \"[]\"}",
                                   "{\"name\": \"f\", \"arguments\": \" \\n\"}",
                                   "{\"name\": \"f\", \"arguments\": {}} and more",
                                   "[]",
                                   "[1]",
                                   "[[",
                                   "{\"name\": \"f\", \"arguments\": {}",
                                   "{\"name\": \"f\", \"arguments\": {}}}",
                                   "<",
                                   "<tool_call",
                                   "<tool_call>",
                                   "a <tool_call>",
                                   "<tool_call></tool_call>",
                                   "<tool_call>{}</tool_call>",
                                   "<tool_call>no</tool_call> yes",
                                   "<tool_call>{\"name\": \"g\", \"arguments\": {}}</tool_call>",
                                   " x <tool_call>\n{\"name\": \"f\"}\n</tool_call> \n",
                                   "a < b <tool> </tool_call>",
                                   "<tool_call>{\"name\": \"f\", \"arguments\": {}"})
    CHECK(found_in(answer) == "'" + answer + "'");
  const std::string deep = R"({"name": "f", "arguments": {"a": )" + std::string(100'000, '[');
  CHECK(found_in(deep, 1000) == "'" + deep + "'");
  const std::string closed = deep + std::string(100'000, ']') + "}}";
  CHECK(found_in(closed, 100'000) == "'" + closed + "'");
}

TEST_CASE("Text is shown as soon as it can be no call") {
  ToolCallFinder finder({"f"});
  CHECK(finder.push("Well, {\"name\"").text == "Well, {\"name\"");
  CHECK(finder.push(": \n<tool").text == ":");
  CHECK(finder.push("s> <").text == " \n<tools>");
  CHECK(finder.push("b").text == " <b");
  CHECK(finder.push(" <tool_call>" + call).text.empty());
  const auto found = finder.push("</tool_call>");
  CHECK(found.calls.size() == 1);
  CHECK(found.text.empty());
  ToolCallFinder other({"f"});
  CHECK(other.push("{ \"na").text.empty());
  CHECK(other.push("il\"").text == "{ \"nail\"");
}
