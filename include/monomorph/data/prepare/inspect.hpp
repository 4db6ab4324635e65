#pragma once
#include <monomorph/data/formats/length_counter.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::data {

/// What a packed file (.pbin), an index (.idx) or a JSON Lines file says of itself.
struct SetStatistics {
  std::uint64_t file_bytes = 0;
  std::uint32_t bytes_per_token = 0;  ///< 0 if it holds no tokens
  LengthCounter lengths;              ///< of the documents: in tokens, or in bytes if it holds none
};
/// @throws [DATA-40] for another name; [DATA-04], [DATA-05], [DATA-06], [DATA-11], [FILE-NN]
SetStatistics read_statistics(const std::string& path, const ProgressCallback& progress = {});

/// The token ids of a document of a packed file, counted from 0.
/// @throws [DATA-52] if there is none of that number; [DATA-05], [DATA-06], [DATA-11], [FILE-NN]
std::vector<std::int32_t> read_document(const std::string& path, std::int64_t number,
                                        const ProgressCallback& progress = {});

/// A line of a JSON Lines file, counted from 0.  @throws [DATA-52], [DATA-11], [FILE-NN]
std::string read_record(const std::string& path, std::int64_t number, const ProgressCallback& progress = {});

/// The record that an index (.idx) of a JSON Lines file gives this number, which is another than the line's if lines
/// before it were skipped.  @throws [DATA-52]; [DATA-05], too, if the file has not so many bytes; [DATA-11], [FILE-NN]
std::string read_indexed_record(const std::string& index, const std::string& json_lines, std::int64_t number,
                                const ProgressCallback& progress = {});

}  // namespace monomorph::data
