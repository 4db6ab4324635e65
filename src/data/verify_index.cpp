#include "data/findings.hpp"
#include "data/json_line_parser.hpp"
#include "data/line_block.hpp"

#include <monomorph/core/mapped_file.hpp>
#include <monomorph/data/input_file.hpp>
#include <monomorph/data/span_index.hpp>
#include <monomorph/data/work_counter.hpp>

#include <filesystem>

namespace monomorph::data {
namespace {

/// Holds an index against the lines that it should name.
class IndexCheck {
 public:
  IndexCheck(const std::string& json_lines, Findings& findings) : lines_(json_lines), findings_(findings) {}

  /// Returns how many bytes the next line had.
  std::uint64_t check(DocumentSpan span) {
    const std::int64_t number = n_documents_++;
    const auto line = lines_.next();
    if (!line) {
      ++n_beyond_;
      return 0;
    }
    if (span.offset != line->offset || span.length != line->text.size()) {
      findings_.add("document {} is said to have {} bytes at byte {}, and line {} has {} at {}", number, span.length,
                    span.offset, line->number, line->text.size(), line->offset);
    }
    check_json(*line);
    return line->text.size();
  }

  /// To be called after the last span.
  void check_end() {
    if (n_documents_ == 0) findings_.add("there are no documents");
    if (n_beyond_ > 0) findings_.add("there are {} documents more than lines in the text", n_beyond_);
    std::int64_t n_left = 0;
    while (lines_.next()) ++n_left;
    if (n_left > 0) findings_.add("the last {} lines of the text are in no document", n_left);
  }

  std::int64_t n_documents() const noexcept { return n_documents_; }

 private:
  void check_json(const Line& line) {
    padded_.assign(line.text).append(LineBlock::padding_bytes, ' ');
    const auto result = parser_.check(std::string_view(padded_).substr(0, line.text.size()));
    if (const auto* problem = std::get_if<LineProblem>(&result)) {
      findings_.add("line {} (byte {}): {}", line.number, line.offset, problem->reason);
    }
  }

  LineReader lines_;
  Findings& findings_;
  JsonLineParser parser_;
  std::string padded_;  ///< the line and what the parser may read behind it
  std::int64_t n_documents_ = 0, n_beyond_ = 0;
};

}  // namespace

VerifySummary verify_index(const std::string& path, const std::string& json_lines, const FindingCallback& report,
                           const ProgressCallback& progress) {
  Findings findings(report);
  const MappedFile index(path);
  IndexCheck check(json_lines, findings);
  std::error_code not_a_file;  // the size is for progress only
  const std::uint64_t text_bytes = std::filesystem::file_size(json_lines, not_a_file);
  WorkCounter counter(progress, not_a_file ? 0 : text_bytes);
  const bool readable = findings.check([&] {
    for_each_span(index.bytes(), path, [&](DocumentSpan span) {
      counter.add(check.check(span));
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
