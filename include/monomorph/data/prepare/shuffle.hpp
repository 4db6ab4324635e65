#pragma once
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::data {

struct ShuffleSettings {
  std::uint64_t seed = 0;
  /// How many bytes of documents are held at once. The order does not depend on it. A few tens of MB come on top.
  std::uint64_t memory_bytes = std::uint64_t{128} << 20;
};

/// Writes the documents of a set (.pbin, .jsonl) in another order, in bounded memory: what does not fit waits in
/// nameless files beside the output, as large as the set. Equal seeds give equal orders.
/// @throws [DATA-40] and what reading the set throws; [FILE-NN]
SetSize shuffle(const std::string& input, const std::string& output, const ShuffleSettings& settings,
                const ProgressCallback& progress = {});

/// One of the parts of a set.
struct Chunk {
  std::int64_t number;  ///< from 1
  std::string output;
};

/// Cuts the shuffled order of a set into `n_chunks` parts whose numbers of documents differ by one at most, and writes
/// those that `chunks` names, all or none. Chunk after chunk, they are what shuffle() writes with the same seed.
/// @throws [DATA-42] if the set has fewer documents than chunks, or a number is not in [1, n_chunks]; as shuffle()
std::vector<SetSize> write_chunks(const std::string& input, const std::vector<Chunk>& chunks, std::int64_t n_chunks,
                                  const ShuffleSettings& settings, const ProgressCallback& progress = {});

}  // namespace monomorph::data
