#include "runtime/distributed/point_to_point.hpp"

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/error_of.hpp"

using monomorph::DType;
using monomorph::View;
using namespace monomorph::distributed;
using namespace std::chrono_literals;

namespace {

/// Two ranks of this process. The second sends a byte when `pause` is over, or stays silent until the first has given
/// up.
/// @return what became of waiting for it
std::string awaited(std::chrono::milliseconds time_limit, std::optional<std::chrono::milliseconds> pause) {
  const Store store = Store::in_process();
  std::promise<void> gave_up;
  const auto sender = std::async(std::launch::async, [&] {
    PointToPoint ranks(store, 1, 2, "127.0.0.1", time_limit);
    std::byte byte{7};
    if (!pause) return gave_up.get_future().wait();
    std::this_thread::sleep_for(*pause);
    ranks.send(0, Channel::batch, View{&byte, DType::u8, {1, 1}}).wait();
  });
  PointToPoint ranks(store, 0, 2, "127.0.0.1", time_limit);
  std::byte byte{};
  const std::string error = monomorph::testing::error_of([&] {
    ranks.receive(1, Channel::batch, View{&byte, DType::u8, {1, 1}}).wait();
  });
  if (pause) CHECK(byte == std::byte{7});
  gave_up.set_value();
  sender.wait();
  return error;
}

}  // namespace

TEST_CASE("a message is waited for as long as the time limit, of which connecting may take a part at a time") {
  CHECK(awaited(5s, 1500ms) == "(no error)");  // Gloo is given a fifth for each part of connecting
  const auto begin = std::chrono::steady_clock::now();
  CHECK(awaited(3s, std::nullopt).starts_with("[RANK-12] rank 1 did not send its part"));
  CHECK(std::chrono::steady_clock::now() - begin > 2900ms);
}
