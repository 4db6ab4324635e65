#pragma once
#include <string>

namespace monomorph::train {

/// A name for a call of a tool that no other call has, by which its result is told: nine letters and digits, which is
/// what Mistral's templates ask for. Clients and other templates take any text.
std::string new_tool_call_id();

}  // namespace monomorph::train
