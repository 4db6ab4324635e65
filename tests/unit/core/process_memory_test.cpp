#include <cstring>
#include <memory>
#include <monomorph/core/process_memory.hpp>
#include <string>

#include "support/catch.hpp"

using namespace monomorph;

TEST_CASE("memory of this process") {
  const std::string status = "Name:\tVmHWM: 7 kB\nVmPeak:\t  9 kB\nVmHWM:\t   1234 kB\nVmRSS:\t 12 kB\n";
  CHECK(status_bytes(status, "VmHWM") == 1234 * 1024);
  CHECK(status_bytes(status, "VmRSS") == 12 * 1024);
  CHECK(status_bytes("VmHWM: 5 kB", "VmHWM") == 5 * 1024);
  CHECK(status_bytes(status, "VmSwap") == 0);
  CHECK(status_bytes("", "VmHWM") == 0);
  CHECK(status_bytes("VmHWM:", "VmHWM") == 0);
  constexpr std::size_t size = 64u << 20;
  const std::int64_t before = peak_resident_bytes();
  {
    const std::unique_ptr<char[]> block(new char[size]);
    std::memset(block.get(), 1, size);
    CHECK(block[size / 2] == 1);
    CHECK(resident_bytes() >= static_cast<std::int64_t>(size));
  }
  CHECK(peak_resident_bytes() >= before);
  CHECK(peak_resident_bytes() >= static_cast<std::int64_t>(size));
}
