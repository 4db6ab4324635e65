#pragma once
#include <chrono>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace monomorph::distributed {

/// Returns or throws what f does, or throws after the time limit. If the process that serves the rendezvous is
/// stopped, c10d waits for its answer for ever, whatever limit it was given. So f runs on a thread of its own, which is
/// left behind when the time is over; therefore f must own whatever it uses.
template <class F> auto with_timeout(std::chrono::milliseconds time_limit, F f) {
  std::packaged_task<std::invoke_result_t<F&>()> task(std::move(f));
  auto result = task.get_future();
  std::thread(std::move(task)).detach();
  if (result.wait_for(time_limit) != std::future_status::ready)
    throw std::runtime_error("no answer within " + std::to_string(time_limit.count()) + " ms");
  return result.get();
}

/// The limit for an answer that takes no time, and what is added to a limit that c10d itself keeps if it is answered.
constexpr std::chrono::milliseconds grace{5000};

}  // namespace monomorph::distributed
