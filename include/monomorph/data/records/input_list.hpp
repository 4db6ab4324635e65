#pragma once
#include <string>
#include <vector>

namespace monomorph::data {

/// The files that a command reads, in the order in which it reads them: the arguments in theirs, and what a pattern
/// (*, ?, [a-z]) stands for in the order of the bytes of the names. A file that is named twice, whatever way its path
/// is written, is read once, at its first place. What exists is no pattern, whatever its name.
/// @throws UsageError [DATA-74] a pattern stands for no file
std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments);

/// For messages about all of them: "a.jsonl", or "a.jsonl and 3 more".
std::string name_of_inputs(const std::vector<std::string>& inputs);

}  // namespace monomorph::data
