#pragma once
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/core/philox.hpp>

namespace monomorph {

/// A sample on its way into a batch, as an objective's `prepare` is given it: T inputs and their targets, to be changed
/// in place. Between the calls nothing is kept, and they come from several threads.
struct Sample {
  std::int32_t* inputs_T;
  std::int32_t* targets_T;                ///< ignored_target counts for nothing
  const std::int32_t* document_starts_T;  ///< as in a MicroBatch; null unless attention keeps within documents
  std::int64_t T, vocab_size;

  /// In training a sample has a number for each time that it is seen, so that every epoch draws anew; in an evaluation
  /// its place among the held-out ones, so that evaluations compare.
  std::uint64_t number;
  std::array<std::uint32_t, 2> key;  ///< of the run's seed in training, of none in an evaluation

  /// Four random words that depend on the key, the sample's number, the place of a token and `site` alone: the same
  /// on any number of ranks, and after a resume.
  constexpr std::array<std::uint32_t, 4> random(std::int64_t place, std::uint32_t site = 0) const {
    return monomorph::random::philox({static_cast<std::uint32_t>(place), site, static_cast<std::uint32_t>(number),
                                      static_cast<std::uint32_t>(number >> 32)},
                                     key);
  }
};

}  // namespace monomorph
