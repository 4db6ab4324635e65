#pragma once
#include <monomorph/data/work/progress.hpp>

#include <cstdint>

namespace monomorph::data {

/// Counts the bytes that a command has worked through: at the beginning and now and then it reports them and looks for
/// signals.
class WorkCounter {
 public:
  /// @param progress may be empty   @param total_bytes 0 if it is not known   @throws [DATA-11] after a signal
  WorkCounter(const ProgressCallback& progress, std::uint64_t total_bytes);
  /// @throws [DATA-11] after a signal
  void add(std::uint64_t n_bytes);

 private:
  void report();

  const ProgressCallback& progress_;
  std::uint64_t total_;
  std::uint64_t done_ = 0, n_calls_ = 0, unreported_ = 0;
};

}  // namespace monomorph::data
