#pragma once
#include <monomorph/core/owned.hpp>
#include <monomorph/train/observe/observed_step.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace monomorph::train {

/// Where the observer of a rank writes: the folder `observer` of the run folder, which all ranks share, and in it
/// rank-<rank>.jsonl, a line for each step of which something was added.
class ObserverRecords {
 public:
  /// @param last_step of the run so far: records of later steps are dropped, as these steps will be repeated
  /// @throws Error [FILE-01], [FILE-03]; [METRICS-01]
  ObserverRecords(const std::string& run_folder, int rank, std::int64_t last_step);
  ObserverRecords(ObserverRecords&&) noexcept;
  ~ObserverRecords();

  /// A number of the step that is shown. Its line is written when the observer has seen the step.
  void add(std::string_view name, double value);
  void add(std::string_view name, std::integral auto value) { add_count(name, static_cast<std::int64_t>(value)); }
  /// Adds a value of a tensor under a name before the tensor's, as in "gradient.layers.3.mlp.up.weight".
  void add(std::string_view name, const ObservedTensor& tensor, double value) {
    add(std::string(name) + "." + std::string(tensor.name()), value);
  }
  /// A path in the folder, for files of the observer's own.
  std::string path(std::string_view file) const;

  /// Writes what was added; in a new file, should the old one have been removed or moved.
  /// @throws Error [FILE-01], [FILE-02], [FILE-03]
  void write(std::int64_t step);

 private:
  void add_count(std::string_view name, std::int64_t value);

  struct Lines;  // the metrics' headers would be read with every recipe
  Owned<Lines> lines_;
};

}  // namespace monomorph::train
