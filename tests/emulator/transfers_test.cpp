// Copies on a stream of their own, in their order among kernels: as late as streams and events let them be, and as
// early.
#include <cuda_runtime_api.h>

#include <monomorph/runtime/cuda/transfers.hpp>

#include <array>

#include "support/catch.hpp"

namespace monomorph::testing {
namespace {

/// Numbers of which a kernel writes or reads all at a time.
struct Numbers {
  std::array<float, 4> values{};
  View view() { return {reinterpret_cast<std::byte*>(values.data()), DType::fp32, {1, 4}}; }
  friend bool operator==(const Numbers&, const Numbers&) = default;
};
Numbers all(float value) { return {{value, value, value, value}}; }

/// A stream of kernels, and copies beside it.
struct Device {
  CUstream_st compute;
  cuda::StreamTransfers transfers{cuda::Queue{&compute}};
  explicit Device(bool early) { streams_run_early = early; }
  void write(Numbers& to, float value) {
    compute.work.emplace_back([&to, value] { to = all(value); });
  }
  void read(const Numbers& from, Numbers& to) {
    compute.work.emplace_back([&from, &to] { to = from; });
  }
  void finish() { cudaStreamSynchronize(&compute); }
};

}  // namespace

TEST_CASE("a copy has what kernels before it wrote, and is done before those that come behind its wait") {
  for (const bool early : {false, true}) {
    CAPTURE(early);
    Device device(early);
    Numbers place, first, second;
    device.write(place, 1);
    const std::uint64_t number = device.transfers.start(place.view(), first.view());
    CHECK(number == 1);
    device.transfers.wait(number);
    device.write(place, 2);
    device.transfers.start(place.view(), second.view());
    device.transfers.wait_for_all();
    device.write(place, 3);
    device.finish();
    CHECK(first == all(1));
    CHECK(second == all(2));
  }
}

TEST_CASE("a copy overwrites nothing that kernels before it read, and kernels behind its wait read what it brought") {
  for (const bool early : {false, true}) {
    CAPTURE(early);
    Device device(early);
    Numbers place, on_host = all(7), before, after;
    device.write(place, 1);
    device.read(place, before);
    device.transfers.wait(device.transfers.start(on_host.view(), place.view()));
    device.read(place, after);
    device.finish();
    CHECK(before == all(1));
    CHECK(after == all(7));
  }
}

TEST_CASE("copies are told apart however many there are") {
  constexpr std::size_t n = 200;
  for (const bool early : {false, true}) {
    CAPTURE(early);
    Device device(early);
    std::array<Numbers, n> places, copies;
    for (std::size_t i = 0; i < n; ++i) {
      device.write(places[i], static_cast<float>(i));
      CHECK(device.transfers.start(places[i].view(), copies[i].view()) == i + 1);
    }
    for (std::size_t i = 0; i < n; ++i) {
      device.transfers.wait(i + 1);
      device.write(places[i], -1);
    }
    device.finish();
    for (std::size_t i = 0; i < n; ++i) CHECK(copies[i] == all(static_cast<float>(i)));
  }
}

TEST_CASE("a copy that nobody waits for is done when its stream is closed") {
  Numbers place, copy;
  {
    Device device(false);
    device.write(place, 1);
    device.transfers.start(place.view(), copy.view());
  }
  CHECK(copy == all(1));
}

}  // namespace monomorph::testing
