#include "data/records/block_pipeline.hpp"
#include "data/records/decompressor.hpp"
#include "data/records/json_line_parser.hpp"
#include "data/records/skip_report.hpp"
#include "data/work/most_workers.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/span_index.hpp>
#include <monomorph/data/prepare/index_json_lines.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fmt/format.h>

namespace monomorph::data {
namespace {

struct BlockSpans {
  std::vector<DocumentSpan> spans;
  std::vector<LineFailure> failures;
  std::int64_t n_lines = 0;
};

void find_spans(LineBlock& block, JsonLineParser& parser, bool stop_at_failure, BlockSpans& result) {
  result.spans.clear();
  result.failures.clear();
  result.n_lines = 0;
  if (block.is_one_too_long) {
    result.failures.push_back(too_long_failure(block.offset, block.end_offset));
    result.n_lines = 1;
    return;
  }
  for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
    auto outcome = parser.check(line);
    if (auto* problem = std::get_if<LineProblem>(&outcome)) {
      result.failures.push_back({result.n_lines, offset, line.size(), std::move(*problem)});
      if (stop_at_failure) return false;
    } else {
      result.spans.push_back({offset, line.size()});
    }
    ++result.n_lines;
    return result.failures.size() < most_failures_at_once;
  });
}

/// Takes the spans of all blocks in order.
class IndexOutput {
 public:
  IndexOutput(const std::string& input, const std::string& output, const IndexSettings& settings)
      : input_(input),
        file_(output),
        index_([this](std::span<const std::byte> bytes) { file_.write(bytes); }),
        report_({input}, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report) {}

  void add(const LineBlock& block, const BlockSpans& found) {
    report_.add(block, n_lines_, found.failures);
    for (const DocumentSpan& span : found.spans) index_.add(span);
    n_lines_ += found.n_lines;
  }

  IndexSummary commit() {
    if (n_lines_ == 0) throw_empty_input(input_);
    if (index_.size() == 0) report_.throw_all_skipped();
    index_.finish();
    report_.commit_with(file_);
    return {index_.size(), report_.n_skipped(), 0};
  }

 private:
  const std::string& input_;
  AtomicFile file_;
  SpanIndexWriter index_;
  SkipReport report_;
  std::int64_t n_lines_ = 0;
};

/// What reads by an index goes to the middle of its file.
void refuse_text_made_of_file(const std::string& input) {
  const bool is_table = is_parquet_name(input);
  if (!is_table && compression_of(input) == Compression::none) return;
  throw UsageError(
      "DATA-73", fmt::format("{} is {}, and what reads by an index must find each line at its place; {}, or pack it as "
                             "it is",
                             in_quotes(input), is_table ? "a Parquet file" : "compressed",
                             is_table ? "write it as JSON Lines" : "decompress it"));
}

}  // namespace

IndexSummary index_json_lines(const std::string& input, const std::string& output, const IndexSettings& settings) {
  refuse_text_made_of_file(input);
  LineBlockReader reader(input);
  IndexOutput index(input, output, settings);
  std::vector<JsonLineParser> parsers(n_workers(settings.n_threads));
  std::vector<BlockPipeline<BlockSpans>::Work> workers;
  workers.reserve(parsers.size());
  for (JsonLineParser& parser : parsers) {
    workers.emplace_back([&parser, &settings](LineBlock& block, BlockSpans& result) {
      find_spans(block, parser, settings.on_error == OnError::stop, result);
    });
  }
  std::uint64_t done_bytes = 0;
  const auto consume = [&](const LineBlock& block, const BlockSpans& spans) {
    index.add(block, spans);
    done_bytes = block.done_offset();
    if (settings.progress) settings.progress(done_bytes, reader.file_bytes());
  };
  // The shortest line is a digit and a newline, and has a span.
  constexpr std::size_t memory_per_byte = 1 + sizeof(DocumentSpan) / 2;
  BlockPipeline<BlockSpans>(reader, std::move(workers), consume, memory_per_byte).run();
  IndexSummary summary = index.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
