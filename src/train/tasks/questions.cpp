#include "train/tasks/questions.hpp"

#include "data/text/python_text.hpp"
#include "train/tasks/question_records.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/input_list.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::string_view benchmark_names[] = {"hellaswag", "arc", "mmlu"};

/// A place among n, as a number or as text of one.
std::size_t place_in(const json& record, const char* key, std::size_t n) {
  const json value = record.value(key, json());
  std::size_t place = n;
  if (value.is_number_unsigned()) {
    place = value.get<std::size_t>();
  } else if (value.is_string()) {
    const std::string text = value.get<std::string>();
    const auto read = std::from_chars(text.data(), text.data() + text.size(), place);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) place = n;
  }
  if (place >= n) throw NoQuestion{fmt::format("its \"{}\" is no number from 0 to {}", key, n - 1)};
  return place;
}

/// Brackets are left over from where the texts come from. Those with a line's end in them stay.
std::string without_brackets(std::string_view text) {
  std::string result;
  std::size_t end = 0;  // of the brackets or the line, until it is passed
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '[' && end <= at) end = std::min(text.find_first_of("]\n", at + 1), text.size());
    if (text[at] == '[' && end < text.size() && text[end] == ']') {
      at = end + 1;
    } else {
      result += text[at++];
    }
  }
  return result;
}

std::string cleaned(const std::string& text) {
  return data::replace_all(without_brackets(data::replace_all(data::python::stripped(text), " [title]", ". ")), "  ",
                           " ");
}

Question hellaswag_question(const json& record) {
  const std::string context = record.contains("ctx_a") || !record.contains("ctx")
                                  ? text_of(record, "ctx_a") + " " + data::python::capitalized(text_of(record, "ctx_b"))
                                  : text_of(record, "ctx");
  Question question{.prompt = cleaned(text_of(record, "activity_label") + ": " + context)};
  for (const std::string& ending : texts_in(record, "endings")) question.choices.push_back(cleaned(ending));
  question.answer = place_in(record, "label", question.choices.size());
  return question;
}

Question arc_question(const json& record) {
  Question question{.prompt = "Question: " + text_of(record, "question") + "\nAnswer:"};
  const json choices = record.value("choices", json());
  if (!choices.is_object()) throw NoQuestion{"it has no object of \"text\" and \"label\" as \"choices\""};
  question.choices = texts_in(choices, "text");
  const std::vector<std::string> labels = texts_in(choices, "label");
  if (labels.size() != question.choices.size()) throw NoQuestion{"its choices have other labels than texts"};
  const std::string key = text_of(record, "answerKey");
  const auto found = std::ranges::find(labels, key);
  if (found == labels.end()) throw NoQuestion{"its \"answerKey\" is none of the labels"};
  question.answer = static_cast<std::size_t>(found - labels.begin());
  return question;
}

Question mmlu_question(const json& record) {
  const std::vector<std::string> choices = texts_in(record, "choices");
  if (choices.size() != 4) throw NoQuestion{fmt::format("it has {} choices, not four", choices.size())};
  Question question{.prompt = std::string(data::python::stripped(text_of(record, "question"))),
                    .choices = {"A", "B", "C", "D"}};
  for (std::size_t i = 0; i < choices.size(); ++i)
    question.prompt += fmt::format("\n{}. {}", question.choices[i], choices[i]);
  question.prompt += "\nAnswer:";
  question.answer = place_in(record, "answer", choices.size());
  if (record.contains("subject")) question.subject = text_of(record, "subject");
  return question;
}

Question question_of(Benchmark benchmark, const json& record) {
  switch (benchmark) {
    case Benchmark::hellaswag:
      return hellaswag_question(record);
    case Benchmark::arc:
      return arc_question(record);
    case Benchmark::mmlu:
      break;
  }
  return mmlu_question(record);
}

}  // namespace

std::string_view name_of(Benchmark benchmark) { return benchmark_names[static_cast<std::size_t>(benchmark)]; }

std::optional<Benchmark> benchmark_of(std::string_view name) {
  const auto found = std::ranges::find(benchmark_names, name);
  if (found == std::end(benchmark_names)) return std::nullopt;
  return static_cast<Benchmark>(found - std::begin(benchmark_names));
}

std::vector<Question> read_questions(Benchmark benchmark, const std::string& files) {
  std::vector<Question> questions;
  for (const std::string& path : data::expand_inputs({files}))
    for_each_record(benchmark, path, [&](const json& record) {
      questions.push_back(question_of(benchmark, record));
      questions.back().record = record.dump();
    });
  if (questions.empty())
    throw UsageError("TASK-02", fmt::format("{} has no questions; give another file", in_quotes(files)));
  return questions;
}

}  // namespace monomorph::train
