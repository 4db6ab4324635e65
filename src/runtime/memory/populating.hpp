#pragma once
#include "runtime/machine/background_pace.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <future>

namespace monomorph::runtime {

/// Has the system give memory its pages behind the steps, so that who writes there first does not wait for them: a page
/// is made and cleared at its first use, which takes longer than a copy of its bytes. On systems before Linux 5.14 it
/// does nothing.
class Populating {
 public:
  /// @param memory from the start of a page on, as of an Arena, that outlives this object
  Populating(std::byte* memory, std::int64_t bytes, ComputedBy steps);
  Populating(const Populating&) = delete;
  ~Populating() { stop(); }

  /// Returns when its thread does nothing any more; pages that it did not come to are made at their first use.
  void stop();

 private:
  void populate(std::byte* memory, std::int64_t bytes);

  BackgroundPace pace_;
  std::atomic<bool> stops_ = false;
  std::future<void> populating_;  // last, as its thread uses the members above
};

}  // namespace monomorph::runtime
