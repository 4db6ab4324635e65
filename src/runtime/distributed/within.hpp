#pragma once
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace monomorph::distributed {

/// What f returns or throws, or a failure after the time limit. Where the process that serves the meeting point has
/// stopped, c10d waits for its answer for ever, whatever limit it was given: f is called on a thread of its own, which
/// is then left to wait. So f must hold whatever it uses.
template <class F> auto within(std::chrono::milliseconds time_limit, F f) {
  std::packaged_task<std::invoke_result_t<F&>()> task(std::move(f));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(time_limit) != std::future_status::ready)
    throw std::runtime_error("no answer within " + std::to_string(time_limit.count()) + " ms");
  return result.get();
}

/// For an answer that takes no time; and beyond a limit that c10d keeps to where it is answered.
constexpr std::chrono::milliseconds grace{5000};

}  // namespace monomorph::distributed
