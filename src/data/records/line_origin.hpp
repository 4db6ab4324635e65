#pragma once
#include "data/records/line_block.hpp"
#include "data/records/line_failure.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::data {

/// Of lines that come from several inputs one after the other: which one, and where in it they are.
class LineOrigin {
 public:
  explicit LineOrigin(std::vector<std::string> inputs) : inputs_(std::move(inputs)) {}

  /// @param n_lines of all blocks before this one
  void begin(const LineBlock& block, std::int64_t n_lines) {
    if (block.input != input_) lines_before_ = n_lines;
    input_ = block.input;
    begin_ = block.input_begin;
  }
  /// @param line_number from 1, as if all inputs were one   @throws as data::throw_failure
  [[noreturn]] void throw_failure(LineFailure failure, std::int64_t line_number) const {
    failure.offset -= begin_;
    data::throw_failure(failure, line_number - lines_before_, inputs_[input_]);
  }
  /// As data::report_line; of several inputs it says which.
  std::string report_line(const LineFailure& failure, std::int64_t line_number) const {
    if (inputs_.size() == 1) return data::report_line(failure, line_number);
    return data::report_line(failure, line_number, inputs_[input_], line_number - lines_before_);
  }

 private:
  std::vector<std::string> inputs_;
  std::size_t input_ = 0;
  std::int64_t lines_before_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace monomorph::data
