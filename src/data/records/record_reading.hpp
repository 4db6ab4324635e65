#pragma once
#include "data/records/block_pipeline.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/data/records/on_error.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

/// What commands that make something of each record of a JSON Lines file have in common.
namespace monomorph::data {

/// Reads the lines of a block one after the other.
/// @param result gets `failures`, and `n_records` lines   @param read_line says what is wrong with a line, if anything
template <class Result>
void read_records(LineBlock& block, OnError on_error, Result& result, std::int64_t& n_records, auto&& read_line) {
  if (block.is_one_too_long) {
    result.failures.push_back(too_long_failure(block.offset, block.end_offset));
    n_records = 1;
    return;
  }
  for_each_line(block, [&](std::string_view line, std::uint64_t offset) {
    if (std::optional<LineProblem> problem = read_line(line))
      result.failures.push_back({n_records, offset, line.size(), *std::move(problem)});
    ++n_records;
    return result.failures.size() < (on_error == OnError::skip ? most_failures_at_once : 1);
  });
}

/// Has each reader, on a thread of its own, read blocks of a file, and takes the results in the order of the file.
/// @param readers with read(LineBlock&, Result&)   @param take is given each block with its result
/// @return the bytes of the input that were read
template <class Result, class Reader>
std::uint64_t read_blocks(LineBlockReader& blocks, std::vector<Reader>& readers, const ProgressCallback& progress,
                          auto&& take) {
  std::vector<typename BlockPipeline<Result>::Work> workers;
  workers.reserve(readers.size());
  for (Reader& reader : readers)
    workers.emplace_back([&reader](LineBlock& block, Result& result) { reader.read(block, result); });
  std::uint64_t done_bytes = 0;
  BlockPipeline<Result>(blocks, std::move(workers), [&](const LineBlock& block, Result& result) {
    take(block, result);
    done_bytes = block.done_offset();
    if (progress) progress(done_bytes, blocks.file_bytes());
  }).run();
  return done_bytes;
}

}  // namespace monomorph::data
