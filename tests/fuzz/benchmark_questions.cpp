// Benchmarks of multiple choice, a question a line or a record of comma-separated values: what is taken as a question
// of any of them has an answer among its choices. The first byte says which benchmark, and in which format.
#include "train/tasks/questions.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <array>

#include "memory_file.hpp"
#include "memory_folder.hpp"

using namespace monomorph;

namespace {

void require_utf8(const std::string& text) {
  fuzz::require(data::valid_utf8_prefix(text) == text.size(), "what is taken of a question is UTF-8");
}

void check(const train::Question& question) {
  require_utf8(question.prompt);
  require_utf8(question.subject);
  for (const std::string& choice : question.choices) require_utf8(choice);
  fuzz::require(question.answer < question.choices.size(), "the answer is one of the choices");
}

void read(train::Benchmark benchmark, const std::string& path) {
  const auto questions = train::read_questions(benchmark, path);
  fuzz::require(!questions.empty(), "a file without questions is refused");
  for (const train::Question& question : questions) check(question);
}

void read_values(std::string_view text) {
  static const fuzz::MemoryFolder folder;
  folder.put("subject_test.csv", text);
  read(train::Benchmark::mmlu, folder.path() + "/subject_test.csv");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using enum train::Benchmark;
  constexpr std::array benchmarks{hellaswag, arc, mmlu};
  if (size == 0) return 0;
  const std::size_t kind = data[0] % (benchmarks.size() + 1);
  return fuzz::refusing([&] {
    if (kind == benchmarks.size()) {
      read_values({reinterpret_cast<const char*>(data + 1), size - 1});
    } else {
      const fuzz::MemoryFile file(data + 1, size - 1);
      read(benchmarks[kind], file.path());
    }
  });
}
