#include "data/prepare/findings.hpp"
#include "data/records/json_line_parser.hpp"
#include "data/records/line_block.hpp"

#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/formats/span_index.hpp>
#include <monomorph/data/records/input_file.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <fmt/format.h>

#include <limits>
#include <optional>

namespace monomorph::data {
namespace {

/// Holds an index against the lines that it should name. Lines that are no documents may be in none: indexing can skip
/// them.
class IndexCheck {
 public:
  IndexCheck(InputFile& file, Findings& findings, WorkCounter& counter)
      : file_(file), findings_(findings), counter_(counter), line_(lines_.next_of_any_length(file_)) {}

  void check(DocumentSpan span) {
    const std::int64_t number = n_documents_++;
    pass_lines_before(span.offset);
    if (!line_) {
      ++n_beyond_;
      return;
    }
    if (span.offset != line_->offset || span.length != line_->n_bytes) {
      findings_.add("document {} is said to have {} bytes at byte {}, and line {} has {} at {}", number, span.length,
                    span.offset, line_->number, line_->n_bytes, line_->offset);
    }
    const bool is_of_line = span.offset >= line_->offset || span.offset + span.length > line_->offset;
    if (!is_of_line) return;
    if (const LineProblem* problem = find_problem()) {
      findings_.add("line {} (byte {}): {}", line_->number, line_->offset, problem->reason);
    }
    next_line();
  }

  /// To be called after the last span.
  void check_end() {
    if (n_documents_ == 0) findings_.add("there are no documents");
    if (n_beyond_ > 0) findings_.add("there are {} documents more than lines in the text", n_beyond_);
    pass_lines_before(std::numeric_limits<std::uint64_t>::max());
  }

  std::int64_t n_documents() const noexcept { return n_documents_; }

 private:
  /// Lines that end there or before are in no document.
  void pass_lines_before(std::uint64_t offset) {
    std::int64_t n_missing = 0, first_missing = 0;
    for (; line_ && line_->offset + line_->n_bytes < offset; next_line()) {
      if (line_->n_bytes > longest_line_bytes || find_problem() != nullptr) continue;
      if (n_missing++ == 0) first_missing = line_->number;
    }
    if (n_missing == 0) return;
    findings_.add("{} lines of the text that could be documents are in none, the first of them line {}", n_missing,
                  first_missing);
  }

  void next_line() {
    counter_.add(line_->n_bytes + 1);
    line_ = lines_.next_of_any_length(file_);
  }

  /// Why the line is no document.
  const LineProblem* find_problem() {
    if (line_->is_passed_over()) {
      result_ =
          LineProblem{"DATA-20", fmt::format("the line is {} bytes long, and one of more than {} is not looked at",
                                             line_->n_bytes, LineBuffer::most_line_bytes)};
    } else {
      padded_.assign(line_->text).append(LineBlock::padding_bytes, ' ');
      result_ = parser_.check(std::string_view(padded_).substr(0, line_->text.size()));
    }
    return std::get_if<LineProblem>(&result_);
  }

  InputFile& file_;
  LineBuffer lines_;
  Findings& findings_;
  WorkCounter& counter_;
  std::optional<Line> line_;  ///< the next one
  JsonLineParser parser_;
  std::variant<std::monostate, LineProblem> result_;
  std::string padded_;  ///< the line and what the parser may read behind it
  std::int64_t n_documents_ = 0, n_beyond_ = 0;
};

}  // namespace

VerifySummary verify_index(const std::string& path, const std::string& json_lines, const FindingCallback& report,
                           const ProgressCallback& progress) {
  Findings findings(report);
  const MappedFile index(path);
  InputFile file(json_lines);
  WorkCounter counter(progress, file.regular_file_bytes());
  IndexCheck check(file, findings, counter);
  const bool readable = findings.check([&] {
    for_each_span(index.bytes(), path, [&](DocumentSpan span) {
      check.check(span);
      constexpr std::int64_t documents_between_releases = std::int64_t{1} << 20;
      if (check.n_documents() % documents_between_releases == 0) index.release();
    });
  });
  if (readable) check.check_end();
  VerifySummary summary;
  summary.n_documents = check.n_documents();
  summary.n_findings = findings.count();
  return summary;
}

}  // namespace monomorph::data
