#include "train/serve/answer_shape.hpp"

#include "train/inference/wanted_text.hpp"
#include "train/serve/api_error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::train {
namespace {

using nlohmann::json;
using Calls = WantedText::Calls;

/// A tool as the client has written it.
struct GivenTool {
  std::string name;
  bool strict = false;
};

/// What `tool_choice` says.
struct ToolChoice {
  bool may_call = true;
  bool must_call = false;
  std::string name{};  ///< of the tool that must be called, if it is one
};

ApiError shape_error(const std::string& field, std::string_view what, const std::string& code = "") {
  return {400, fmt::format("{} {}", field, what), field, code};
}

RequestFields object_at(RequestFields& fields, const char* name) {
  const json* const object = fields.find(name);
  return {object == nullptr ? json() : *object, fields.path_of(name)};
}

std::string name_in(RequestFields& fields) {
  std::string name = fields.text("name").value_or("");
  if (name.empty()) throw shape_error(fields.path_of("name"), "must be a string that is not empty");
  return name;
}

GivenTool tool_of(const json& value, std::size_t index) {
  RequestFields tool(value, fmt::format("tools.{}", index));
  if (tool.text("type") != "function") throw shape_error(tool.path_of("type"), "must be \"function\"");
  RequestFields function = object_at(tool, "function");
  function.text("description");
  if (const json* const parameters = function.find("parameters"); parameters != nullptr && !parameters->is_object())
    throw shape_error(function.path_of("parameters"), "must be an object");
  const bool strict = function.flag("strict").value_or(false);
  return {name_in(function), strict};
}

std::vector<GivenTool> tools_in(RequestFields& fields) {
  const json* const list = fields.find("tools");
  if (list == nullptr) return {};
  if (!list->is_array() || std::ssize(*list) > CompletionRequest::most_tools)
    throw shape_error("tools", fmt::format("must be a list of up to {} tools", CompletionRequest::most_tools));
  std::vector<GivenTool> tools;
  for (const json& tool : *list) tools.push_back(tool_of(tool, tools.size()));
  return tools;
}

ToolChoice choice_in(RequestFields& fields, const std::vector<GivenTool>& tools) {
  const json* const choice = fields.find("tool_choice");
  if (choice == nullptr || *choice == "auto") return {};
  if (*choice == "none") return {.may_call = false};
  if (*choice != "required" && !choice->is_object())
    throw shape_error("tool_choice", R"(must be "none", "auto", "required" or a function's name in its object)");
  if (tools.empty()) throw shape_error("tool_choice", "goes with tools");
  if (!choice->is_object()) return {.must_call = true};
  RequestFields named(*choice, "tool_choice");
  if (named.text("type") != "function")
    throw shape_error(named.path_of("type"), "must be \"function\" here", "unsupported_parameter");
  RequestFields function = object_at(named, "function");
  const std::string name = name_in(function);
  function.finish();
  named.finish();
  if (std::ranges::find(tools, name, &GivenTool::name) == tools.end())
    throw shape_error(function.path_of("name"), "is none of the tools");
  return {.must_call = true, .name = name};
}

/// Where a request has something, with the order of its members.
const JsonTree* given_at(const JsonTree& body, std::initializer_list<std::string_view> path) {
  const JsonTree* at = &body;
  for (const std::string_view name : path)
    if (at != nullptr) at = at->find(name);
  return at == nullptr || at->is(JsonTree::Kind::null) ? nullptr : at;
}

/// @return whether the format says anything about the text
bool read_format(RequestFields& fields, const JsonTree& body, WantedText& wanted) {
  const json* const given = fields.find("response_format");
  if (given == nullptr) return false;
  RequestFields format(*given, "response_format");
  const std::string type = format.text("type").value_or("");
  if (type != "text" && type != "json_object" && type != "json_schema")
    throw shape_error(format.path_of("type"), R"(must be "text", "json_object" or "json_schema")");
  if (type != "json_schema") {
    format.finish();
    if (type == "json_object") wanted.document.emplace();
    return type == "json_object";
  }
  RequestFields schema = object_at(format, "json_schema");
  name_in(schema);
  schema.text("description");
  schema.flag("strict");
  const std::string place = schema.path_of("schema");
  if (const json* const object = schema.find("schema"); object == nullptr || !object->is_object())
    throw shape_error(place, "must be an object");
  schema.finish();
  format.finish();
  wanted.document.emplace().schema = GivenSchema{given_at(body, {"response_format", "json_schema", "schema"}), place};
  return true;
}

void add_tools(const std::vector<GivenTool>& given, const ToolChoice& choice, const JsonTree& body,
               WantedText& wanted) {
  const JsonTree* const list = body.find("tools");
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!choice.name.empty() && given[i].name != choice.name) continue;
    WantedText::Tool tool{.name = given[i].name, .arguments = {}, .strict = given[i].strict};
    if (const JsonTree* const schema = given_at(list->items[i], {"function", "parameters"}))
      tool.arguments = GivenSchema{schema, fmt::format("tools.{}.function.parameters", i)};
    wanted.tools.push_back(std::move(tool));
  }
}

std::shared_ptr<const Constraint> constraint_of(const WantedText& wanted, const ServedModel& model) {
  auto vocabulary = model.vocabulary->of(model.tokenizer, model.settings.stop_ids);
  if (!vocabulary->spells_json())
    throw shape_error(wanted.document ? "response_format" : "tools",
                      "cannot be kept to: the model's tokeniser lacks tokens of single bytes", "unsupported_parameter");
  try {
    return std::make_shared<const Constraint>(std::move(vocabulary), grammar_of(wanted));
  } catch (const SchemaError& error) {
    throw shape_error(error.path(), error.what(),
                      error.why() == SchemaError::Why::unsupported ? "unsupported_parameter" : "");
  }
}

/// Text that is free but for the arguments of tools that are strict has the form that they have.
void read_constraint(RequestFields& fields, const std::string& body, const ServedModel& model,
                     const std::vector<GivenTool>& tools, const ToolChoice& choice, AnswerShape& shape) {
  const bool any_strict = std::ranges::any_of(tools, &GivenTool::strict);
  if (fields.find("response_format") == nullptr && !choice.must_call && !any_strict) return;
  const JsonTree tree = json_tree_of(body).value_or(JsonTree{});
  WantedText wanted;
  const bool is_document = read_format(fields, tree, wanted);
  const bool calls = !shape.callable.empty() && (choice.must_call || any_strict || is_document);
  if (!calls && !is_document) return;
  if (choice.must_call) wanted.document.reset();
  if (calls) {
    wanted.calls = !choice.must_call                        ? Calls::as_liked
                   : shape.one_call || !choice.name.empty() ? Calls::one
                                                            : Calls::some;
    wanted.form = model.chat_prompt.call_form();
    add_tools(tools, choice, tree, wanted);
  }
  shape.constraint = constraint_of(wanted, model);
}

}  // namespace

/// The template is given the tools in the order and with the members that the client wrote.
AnswerShape read_answer_shape(RequestFields& fields, const std::string& body, const ServedModel& model) {
  AnswerShape shape;
  const std::vector<GivenTool> tools = tools_in(fields);
  const ToolChoice choice = choice_in(fields, tools);
  shape.one_call = !fields.flag("parallel_tool_calls").value_or(true);
  shape.named_call = !choice.name.empty();
  if (!tools.empty() && choice.may_call) {
    if (!model.chat_prompt.takes_tools())
      throw ApiError(400,
                     "the model's chat template has no place for tools; leave them out, or start the server with "
                     "--template and one that has",
                     "tools", "unsupported_parameter");
    for (const GivenTool& tool : tools)
      if (choice.name.empty() || tool.name == choice.name) shape.callable.insert(tool.name);
    shape.offered = *data::jinja::value_of_json(body, "the request's body").dict()->find(std::string_view("tools"));
  }
  read_constraint(fields, body, model, tools, choice, shape);
  return shape;
}

}  // namespace monomorph::train
