#include "data/formats/json_lines_set.hpp"
#include "data/formats/packed_set.hpp"
#include "data/records/skipped_lines.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/prepare/filter.hpp>
#include <monomorph/data/records/record_expression.hpp>
#include <monomorph/data/work/work_counter.hpp>

#include <fmt/format.h>

#include <optional>

namespace monomorph::data {
namespace {

/// A condition on the records that documents were made from, asked in their order.
class RecordCondition {
 public:
  /// @param skipped a report of lines that are no documents; may be empty
  RecordCondition(const std::string& expression, const std::string& path, const std::string& skipped)
      : expression_(expression), file_(path) {
    if (!skipped.empty()) skipped_.emplace(skipped);
  }

  bool holds_for_next() {
    const auto line = next_line();
    if (!line) throw_mismatch("fewer lines than the packed file has documents");
    return expression_.holds(*line, file_.path());
  }

  /// To be called after the last document.
  void finish() {
    if (next_line()) throw_mismatch("more lines than the packed file has documents");
    if (skipped_ && skipped_->has_more()) throw_mismatch("fewer lines than the report of skipped lines names");
    const std::vector<std::string> fields = expression_.fields_never_found();
    if (fields.empty()) return;
    throw Error("DATA-44", fmt::format("no record of {} has the field {}; correct its name, or ask exists({})",
                                       in_quotes(file_.path()), in_quotes(fields.front()), fields.front()));
  }

 private:
  /// Of any length, as packing may have skipped it for that.
  std::optional<Line> next_line() {
    auto line = lines_.next_of_any_length(file_);
    while (line && skipped_ && skipped_->contains(line->number)) line = lines_.next_of_any_length(file_);
    return line;
  }

  [[noreturn]] void throw_mismatch(const char* what) const {
    throw Error("DATA-46",
                fmt::format("{} has {}; give the file that the set was packed from and, if packing skipped lines, its "
                            "report of them with --skipped",
                            in_quotes(file_.path()), what));
  }

  RecordExpression expression_;
  InputFile file_;
  LineBuffer lines_;
  std::optional<SkippedLines> skipped_;
};

/// Whether a packed document has as many tokens as are asked for.
class TokenLimits {
 public:
  TokenLimits(const FilterSettings& settings, std::uint32_t bytes_per_token)
      : min_(settings.min_tokens), max_(settings.max_tokens), bytes_per_token_(bytes_per_token) {}

  bool allow(const Document& document) const {
    const auto n_tokens = static_cast<std::int64_t>(document.n_bytes / bytes_per_token_);
    return (!min_ || n_tokens >= *min_) && (!max_ || n_tokens <= *max_);
  }

 private:
  std::optional<std::int64_t> min_, max_;
  std::uint32_t bytes_per_token_;
};

[[noreturn]] void refuse(const std::string& reason) { throw UsageError("DATA-10", reason); }

void check_settings(SetKind kind, const FilterSettings& settings) {
  const bool limits_length = settings.min_tokens || settings.max_tokens;
  if (!limits_length && settings.where.empty())
    refuse(
        "nothing says what to keep; give --min-tokens, --max-tokens or "
        "--where");
  if (settings.min_tokens && settings.max_tokens && *settings.min_tokens > *settings.max_tokens) {
    refuse("--min-tokens is more than --max-tokens, so that nothing could be kept");
  }
  if (kind == SetKind::json_lines && limits_length) {
    refuse("text has no tokens to count; pack it first, or ask for its characters: --where 'length(/text) >= 100'");
  }
  if (kind == SetKind::json_lines && !settings.records.empty()) {
    refuse("--records is for packed files; a JSON Lines file has its records itself");
  }
  if (kind == SetKind::packed && settings.where.empty() != settings.records.empty()) {
    refuse(
        "a packed file has no records to look at; give both --where and, with --records, the JSON Lines file that "
        "it was packed from");
  }
  if (settings.records.empty() && !settings.skipped.empty()) {
    refuse("--skipped says which lines of --records are no documents; give both, or neither");
  }
}

}  // namespace

FilterSummary filter(const std::string& input, const std::string& output, const FilterSettings& settings,
                     const ProgressCallback& progress) {
  const SetKind kind = set_kind(input);
  check_settings(kind, settings);
  const auto source = open_set(input);
  const TokenLimits limits(settings, kind == SetKind::packed ? PackedFile(input).bytes_per_token() : 1);
  std::optional<RecordCondition> condition;
  if (!settings.where.empty()) {
    condition.emplace(settings.where, settings.records.empty() ? input : settings.records, settings.skipped);
  }

  const auto sink = create_set_like(input, output);
  FilterSummary summary;
  WorkCounter counter(progress, source->n_bytes());
  source->for_each([&](const Document& document) {
    ++summary.read.n_documents;
    summary.read.n_bytes += document.n_bytes;
    const bool meets_condition = !condition || condition->holds_for_next();
    if (meets_condition && limits.allow(document)) source->copy_to(*sink);
    counter.add(document.n_bytes);
  });
  if (condition) condition->finish();
  summary.kept = {sink->n_documents(), sink->n_bytes()};
  if (summary.kept.n_documents == 0) {
    throw Error("DATA-45", fmt::format("none of the {} documents of {} is kept, so nothing was written; ask for less",
                                       summary.read.n_documents, in_quotes(input)));
  }
  sink->commit();
  return summary;
}

}  // namespace monomorph::data
