#pragma once
#include "train/serve/completion_request.hpp"
#include "train/serve/request_fields.hpp"

namespace monomorph::train {

/// What a chat's answer may be made of: calls of which tools, and what else its text must be.
struct AnswerShape {
  data::jinja::Value offered{};  ///< the tools as the template is given them
  std::set<std::string> callable{};
  bool one_call = false;    ///< of an answer's calls, the first alone is told
  bool named_call = false;  ///< the client has named the tool, and knows what it gets
  std::shared_ptr<const Constraint> constraint{};
};

/// Reads `tools`, `tool_choice`, `parallel_tool_calls` and `response_format`.   @throws ApiError 400
AnswerShape read_answer_shape(RequestFields& fields, const std::string& body, const ServedModel& model);

}  // namespace monomorph::train
