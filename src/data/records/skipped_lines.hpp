#pragma once
#include <monomorph/data/records/input_file.hpp>

#include <cstdint>
#include <string>

namespace monomorph::data {

/// The lines that a report of skipped lines names.
class SkippedLines {
 public:
  /// @throws [DATA-53] if it is no such report; [FILE-NN]
  explicit SkippedLines(const std::string& report);

  /// Whether a line was skipped; lines are to be asked for in their order, from 1.  @throws [DATA-53]
  bool contains(std::int64_t line);
  /// Whether the report names lines behind those that were asked for.
  bool has_more() const noexcept { return next_ != 0; }

 private:
  void read_next();

  LineReader report_;
  std::int64_t next_ = 0;  ///< 0 at the end
};

}  // namespace monomorph::data
