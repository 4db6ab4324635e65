#pragma once
#include "train/tasks/questions.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <string>

namespace monomorph::train {

/// What is wrong with a record, that it is no question.
struct NoQuestion {
  std::string what;
};

/// The text of a member.   @throws NoQuestion
std::string text_of(const nlohmann::json& record, const char* key);
/// The texts of an array that is not empty.   @throws NoQuestion
std::vector<std::string> texts_in(const nlohmann::json& record, const char* key);

/// Gives each record of a benchmark's file to `take`, with the members that it has in Hugging Face's data sets. The
/// file may also be as the benchmark was published: ARC with its choices within the question, MMLU as comma-separated
/// values of question, four choices and the letter of the answer, with the subject in the file's name.
/// @param take throws NoQuestion
/// @throws UsageError [TASK-01] a record is no question; [TASK-06] comma-separated values of another benchmark; as
/// data::TextInput, data::CsvRecords
void for_each_record(Benchmark benchmark, const std::string& path,
                     const std::function<void(const nlohmann::json&)>& take);

}  // namespace monomorph::train
