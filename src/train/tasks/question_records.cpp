#include "train/tasks/question_records.hpp"

#include "core/json_text.hpp"
#include "data/records/csv_records.hpp"
#include "data/records/decompressor.hpp"
#include "data/records/text_lines.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace monomorph::train {
namespace {

using nlohmann::json;
using TakeRecord = std::function<void(const json&)>;

json parsed_record(std::string_view line) {
  json record = parsed_json(line);
  if (record.is_discarded()) throw NoQuestion{"it is no JSON object: " + json_mistake(line)};
  if (!record.is_object()) throw NoQuestion{"it is no JSON object"};
  return record;
}

/// ARC as the Allen Institute published it has the text and the choices of a question within it.
json with_choices_beside(const json& record) {
  const auto question = record.find("question");
  if (question == record.end() || !question->is_object()) return record;
  json texts = json::array(), labels = json::array();
  for (const json& choice : question->value("choices", json::array())) {
    if (!choice.is_object()) throw NoQuestion{"one of its choices is no object of \"text\" and \"label\""};
    texts.push_back(text_of(choice, "text"));
    labels.push_back(text_of(choice, "label"));
  }
  return {{"question", text_of(*question, "stem")},
          {"choices", {{"text", texts}, {"label", labels}}},
          {"answerKey", text_of(record, "answerKey")}};
}

/// "abstract_algebra" of abstract_algebra_test.csv.
std::string subject_of(const std::string& path) {
  std::string name = std::filesystem::path(data::uncompressed_name(path)).stem().string();
  for (const std::string_view part : {"_dev", "_val", "_test"})
    if (name.ends_with(part)) return name.substr(0, name.size() - part.size());
  return name;
}

/// MMLU as it was published: question, four choices, the letter of the answer.
json mmlu_record(const std::vector<std::string>& fields, const std::string& subject) {
  constexpr std::string_view letters = "ABCD";
  if (fields.size() != 2 + letters.size())
    throw NoQuestion{fmt::format("it has {} values, not question, four choices and answer", fields.size())};
  if (!std::ranges::all_of(fields, [](const std::string& field) { return is_utf8(field); }))
    throw NoQuestion{"it is not UTF-8"};
  const std::size_t answer = fields.back().size() == 1 ? letters.find(fields.back()) : std::string_view::npos;
  if (answer == std::string_view::npos)
    throw NoQuestion{fmt::format("its answer, {}, is none of A, B, C and D", in_quotes(fields.back()))};
  return {{"question", fields.front()},
          {"choices", std::vector(fields.begin() + 1, fields.end() - 1)},
          {"answer", answer},
          {"subject", subject}};
}

void each_json_line(Benchmark benchmark, const std::string& path, const TakeRecord& take, std::int64_t& number) {
  data::TextLines lines(path);
  while (const auto line = lines.next()) {
    number = line->number;
    if (line->text.empty()) continue;
    const json record = parsed_record(line->text);
    take(benchmark == Benchmark::arc ? with_choices_beside(record) : record);
  }
}

void each_csv_record(const std::string& path, const TakeRecord& take, std::int64_t& number) {
  const std::string subject = subject_of(path);
  data::CsvRecords records(path);
  while (const auto record = records.next()) {
    number = record->line;
    take(mmlu_record(record->fields, subject));
  }
}

}  // namespace

std::string text_of(const json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_string()) throw NoQuestion{fmt::format("it has no text as \"{}\"", key)};
  return found->get<std::string>();
}

std::vector<std::string> texts_in(const json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end() || !found->is_array() || found->empty() ||
      !std::ranges::all_of(*found, [](const json& one) { return one.is_string(); }))
    throw NoQuestion{fmt::format("it has no array of texts as \"{}\"", key)};
  return found->get<std::vector<std::string>>();
}

void for_each_record(Benchmark benchmark, const std::string& path, const TakeRecord& take) {
  const bool is_csv = data::is_csv_name(path);
  if (is_csv && benchmark != Benchmark::mmlu)
    throw UsageError("TASK-06", fmt::format("{} has comma-separated values, in which mmlu alone is published; give "
                                            "JSON Lines or Parquet",
                                            in_quotes(path)));
  std::int64_t number = 0;
  try {
    if (is_csv)
      each_csv_record(path, take, number);
    else
      each_json_line(benchmark, path, take, number);
  } catch (const NoQuestion& mistake) {
    throw UsageError("TASK-01", fmt::format("line {} of {} is no question of {}: {}; mend the line", number,
                                            in_quotes(path), name_of(benchmark), mistake.what));
  }
}

}  // namespace monomorph::train
