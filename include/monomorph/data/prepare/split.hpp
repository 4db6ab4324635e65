#pragma once
#include <monomorph/data/formats/document_source.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::data {

/// How much is held out. Exactly one is given.
struct HeldOutSize {
  std::optional<double> fraction{};  ///< of the documents, rounded to the nearest number from 1 on
  std::optional<std::int64_t> documents{};
  std::optional<std::uint64_t> bytes{};  ///< as few documents as together have that many bytes
};

struct SplitSettings {
  HeldOutSize size{};
  bool tail = false;  ///< the last documents; else any, drawn by the seed
  std::uint64_t seed = 0;
};

struct SplitSizes {
  SetSize train, held_out;
};

/// Writes each document of a set (.pbin, .jsonl) into one of two sets, in the order in which they were; both appear or
/// none.
/// @throws [DATA-42] if either would have no document; [DATA-40] and what reading the set throws; [FILE-NN]
SplitSizes split(const std::string& input, const std::string& train, const std::string& held_out,
                 const SplitSettings& settings, const ProgressCallback& progress = {});

}  // namespace monomorph::data
