#include "runtime/memory/populating.hpp"

#include "support/catch.hpp"

#include <monomorph/runtime/memory/arena.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

using namespace monomorph;

namespace {

constexpr std::int64_t bytes = std::int64_t{16} << 20;

std::int64_t n_pages(const Arena& arena) { return arena.bytes() / ::sysconf(_SC_PAGESIZE); }

/// As the system tells it.
std::int64_t n_pages_made(const Arena& arena) {
  std::vector<unsigned char> pages(static_cast<std::size_t>(n_pages(arena)));
  REQUIRE(::mincore(arena.data(), static_cast<std::size_t>(arena.bytes()), pages.data()) == 0);
  return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
}

bool system_makes_pages() {
  Arena arena(4096);
  return ::madvise(arena.data(), 4096, MADV_POPULATE_WRITE) == 0;
}

}  // namespace

TEST_CASE("memory has all its pages some time after it is populated, and is zero") {
  if (!system_makes_pages()) MONOMORPH_SKIP("this system makes no pages before they are used");
  Arena arena(bytes);
  REQUIRE(n_pages_made(arena) == 0);
  runtime::Populating populating(arena.data(), bytes, runtime::ComputedBy::cores);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (n_pages_made(arena) < n_pages(arena) && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(n_pages_made(arena) == n_pages(arena));
  const std::span memory(arena.data(), static_cast<std::size_t>(bytes));
  CHECK(std::ranges::all_of(memory, [](std::byte byte) { return byte == std::byte{0}; }));
}

TEST_CASE("what is written while memory is populated stays, and who stops it need not wait for all of it") {
  constexpr std::int64_t large = std::int64_t{1} << 30;
  Arena arena(large);
  runtime::Populating populating(arena.data(), large, runtime::ComputedBy::cores);
  for (std::int64_t at = 0; at < bytes; at += 4096) arena.data()[at] = std::byte{7};
  populating.stop();
  populating.stop();
  CHECK(n_pages_made(arena) < n_pages(arena) / 2);
  bool stays = true;
  for (std::int64_t at = 0; at < bytes; at += 4096) stays = stays && arena.data()[at] == std::byte{7};
  CHECK(stays);
}

TEST_CASE("no memory can be populated") {
  runtime::Populating populating(nullptr, 0, runtime::ComputedBy::device);
  CHECK_NOTHROW(populating.stop());
}
