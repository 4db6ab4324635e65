#pragma once
#include "simulator/streams.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace monomorph::simulator {

/// When what the GPU is given would end if each stream had an engine of its own. An operation begins when the one
/// before it on its stream has ended, and that for which it waits. The order in which the simulator runs them makes no
/// difference. That the host waits would, and is left out: who uses this must see that it does not.
class Timeline {
 public:
  /// @param duration of an operation, by what it is: "kernel", "product", "copy", …
  explicit Timeline(std::function<double(std::string_view what)> duration) : duration_(std::move(duration)) {}

  /// Of an operation that runs, behind all that it waits for.
  void add(const Operation& operation) {
    Ends& ends = of_streams_[operation.stream];
    const bool waits = operation.other != nullptr, takes_time = !waits && !operation.is_moment;
    if (waits) ends.last = std::max(ends.last, end_of(operation.other, operation.place));
    if (takes_time) ends.last += duration_(operation.what);
    ends.by_number[operation.stream->n_done] = ends.last;
    end_ = std::max(end_, ends.last);
  }
  double end() const { return end_; }

 private:
  struct Ends {
    double last = 0;
    std::unordered_map<std::uint64_t, double> by_number;
  };
  /// What had ended before the timeline began lies at its beginning.
  double end_of(const CUstream_st* stream, std::uint64_t number) {
    const auto& ends = of_streams_[stream].by_number;
    const auto found = ends.find(number);
    return found == ends.end() ? 0 : found->second;
  }

  std::function<double(std::string_view)> duration_;
  std::unordered_map<const CUstream_st*, Ends> of_streams_;
  double end_ = 0;
};

}  // namespace monomorph::simulator
