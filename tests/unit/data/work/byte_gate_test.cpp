#include "data/work/byte_gate.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using monomorph::data::ByteGate;

TEST_CASE("A gate never has more bytes inside than it may, and what is larger goes in alone") {
  constexpr std::size_t most_bytes = 100;
  ByteGate gate(most_bytes);
  std::atomic<std::size_t> bytes_inside = 0;
  std::atomic<int> n_too_many = 0;
  std::vector<std::jthread> threads;
  for (const std::size_t n_bytes : {30u, 50u, 70u, 1000u}) {
    threads.emplace_back([&, n_bytes] {
      for (int i = 0; i < 1000; ++i) {
        const ByteGate::Stay stay(gate, n_bytes);
        const std::size_t together = bytes_inside += n_bytes;
        if (together > most_bytes && together != n_bytes) ++n_too_many;
        bytes_inside -= n_bytes;
      }
    });
  }
  threads.clear();
  CHECK(n_too_many == 0);
}
