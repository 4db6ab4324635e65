#include "data/records/block_pipeline.hpp"
#include "data/records/decompressor.hpp"
#include "data/records/json_line_parser.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/training/bpe_trainer.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>
#include <optional>

namespace monomorph::data {
namespace {

/// What is known of a block once its words are counted.
struct CountedBlock {
  std::int64_t n_lines = 0;
  std::optional<LineFailure> failure;
};

/// Counts the words of blocks. One per thread.
class BlockCounter {
 public:
  BlockCounter(const BpeTrainer& trainer, const FieldPointer& field) : trainer_(trainer), field_(field) {}

  void count_lines(LineBlock& block, CountedBlock& result) {
    result = {};
    for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
      const bool has_newline = offset + line.size() < block.end_offset;
      trainer_.count_words({line.data(), line.size() + (has_newline ? 1 : 0)}, counts_);
      ++result.n_lines;
      return true;
    });
  }

  void count_records(LineBlock& block, CountedBlock& result) {
    result = {};
    if (block.is_one_too_long) {
      result.failure = too_long_failure(block.offset, block.end_offset);
      return;
    }
    for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
      auto outcome = parser_.text_at(block.writable(line), field_);
      if (auto* problem = std::get_if<LineProblem>(&outcome)) {
        result.failure = LineFailure{result.n_lines, offset, line.size(), std::move(*problem)};
        return false;
      }
      trainer_.count_words(std::get<std::string_view>(outcome), counts_);
      ++result.n_lines;
      return true;
    });
  }

  const WordCounts& counts() const { return counts_; }

 private:
  const BpeTrainer& trainer_;
  const FieldPointer& field_;
  JsonLineParser parser_;
  WordCounts counts_;
};

bool has_records(const std::string& path) {
  return is_json_lines_name(std::string(uncompressed_name(path))) || is_parquet_name(path);
}

std::unique_ptr<LineBlockReader> open_file(const std::string& path, const Columns& columns) {
  const std::size_t longest_line = has_records(path) ? longest_line_bytes : std::numeric_limits<std::size_t>::max() / 4;
  return std::make_unique<LineBlockReader>(path, 0, longest_line, columns);
}

/// The files of a text. All are opened before any is read, so that a wrong name is told at once; but only pipes, which
/// can be opened once, stay open until they are read, as there may be more files than a process may have open.
class TextFiles {
 public:
  TextFiles(const std::vector<std::string>& paths, const Columns& columns) : columns_(columns) {
    for (const std::string& path : paths) {
      auto reader = open_file(path, columns_);
      total_bytes_ += reader->file_bytes();
      const bool opens_again = std::filesystem::is_regular_file(path);
      files_.push_back({path, opens_again ? nullptr : std::move(reader)});
    }
  }
  std::uint64_t total_bytes() const { return total_bytes_; }
  /// Calls f(reader, path) with each in turn.
  void for_each(const auto& f) {
    for (auto& [path, held] : files_) {
      const auto reader = held ? std::move(held) : open_file(path, columns_);
      f(*reader, path);
    }
  }

 private:
  struct File {
    std::string path;
    std::unique_ptr<LineBlockReader> held;
  };

  Columns columns_;
  std::vector<File> files_;
  std::uint64_t total_bytes_ = 0;
};

/// Counts the words of one file; tells how many bytes of it are done.
void count_file(LineBlockReader& reader, const std::string& path, std::vector<BlockCounter>& counters,
                const std::function<void(std::uint64_t)>& progress) {
  const auto count = has_records(path) ? &BlockCounter::count_records : &BlockCounter::count_lines;
  std::vector<BlockPipeline<CountedBlock>::Work> workers;
  workers.reserve(counters.size());
  for (BlockCounter& counter : counters) {
    workers.emplace_back(
        [&counter, count](LineBlock& block, CountedBlock& result) { (counter.*count)(block, result); });
  }
  std::int64_t n_lines = 0;
  BlockPipeline<CountedBlock>(reader, std::move(workers), [&](const LineBlock& block, const CountedBlock& counted) {
    if (counted.failure) throw_failure(*counted.failure, n_lines + counted.failure->line_in_block + 1, path);
    n_lines += counted.n_lines;
    progress(block.end_offset);
  }).run();
  if (n_lines == 0) throw_empty_input(path);
}

void refuse_packed_file(const std::string& path) {
  if (!path.ends_with(".pbin")) return;
  throw UsageError("DATA-40", fmt::format("{} ends in .pbin, so it holds ids and no text; give the text that it was "
                                          "packed from",
                                          in_quotes(path)));
}

}  // namespace

TokenizerDefinition train_tokenizer(const TrainingText& text, const BpeTrainerSettings& settings) {
  for (const std::string& path : text.paths) refuse_packed_file(path);
  BpeTrainer trainer(settings);
  const FieldPointer field(text.field);
  TextFiles files(text.paths, columns_of({field}));
  std::uint64_t done_bytes = 0;
  std::vector<BlockCounter> counters;
  counters.reserve(static_cast<std::size_t>(text.n_threads));
  for (int i = 0; i < text.n_threads; ++i) counters.emplace_back(trainer, field);
  files.for_each([&](LineBlockReader& reader, const std::string& path) {
    std::uint64_t done_of_file = 0;
    count_file(reader, path, counters, [&](std::uint64_t done) {
      done_of_file = done;
      if (text.progress) text.progress(done_bytes + done, files.total_bytes());
    });
    done_bytes += done_of_file;
  });
  for (const BlockCounter& counter : counters) trainer.add(counter.counts());
  return trainer.train(text.merge_progress);
}

}  // namespace monomorph::data
