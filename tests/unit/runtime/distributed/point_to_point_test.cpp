#include "runtime/distributed/point_to_point.hpp"

#include <chrono>
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

/// Two ranks of this process. The second sends a byte when `pause` is over, or nothing.
/// @return what became of waiting for it
std::string awaited(std::chrono::milliseconds time_limit, std::optional<std::chrono::milliseconds> pause) {
  const Store store = Store::in_process();
  std::thread sender([&] {
    PointToPoint ranks(store, 1, 2, "127.0.0.1", time_limit);
    std::byte byte{7};
    std::this_thread::sleep_for(pause.value_or(2 * time_limit));
    if (pause) ranks.send(0, Channel::batch, View{&byte, DType::u8, {1, 1}}).wait();
  });
  std::string error;
  {
    PointToPoint ranks(store, 0, 2, "127.0.0.1", time_limit);
    std::byte byte{};
    error = monomorph::testing::error_of([&] {
      ranks.receive(1, Channel::batch, View{&byte, DType::u8, {1, 1}}).wait();
    });
    if (pause) CHECK(byte == std::byte{7});
    sender.join();
  }
  return error;
}

}  // namespace

TEST_CASE("a message is waited for as long as the time limit, of which connecting may take a part at a time") {
  CHECK(awaited(4s, 1200ms) == "(no error)");  // Gloo is given a fifth for each part of connecting
  const auto begin = std::chrono::steady_clock::now();
  CHECK(awaited(600ms, std::nullopt).starts_with("[RANK-12] rank 1 did not send its part"));
  CHECK(std::chrono::steady_clock::now() - begin > 550ms);
}
