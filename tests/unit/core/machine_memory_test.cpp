#include <filesystem>
#include <monomorph/core/machine_memory.hpp>
#include <monomorph/core/process_memory.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace monomorph;
using namespace monomorph::testing;

namespace {

constexpr std::int64_t gibibyte = std::int64_t{1} << 30;

/// A machine of 8 GiB and 2 GiB of swap, of which 6 GiB are available.
class Machine {
 public:
  Machine() {
    write("proc/meminfo",
          "MemTotal:  8388608 kB\nMemFree: 1 kB\nMemAvailable:  6291456 kB\nSwapTotal:  2097152 kB\nSwapFree: 0 kB\n");
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ / path).parent_path());
    write_bytes(root_ / path, text);
  }
  MachineMemory memory() const { return machine_memory(root_.path()); }

 private:
  TemporaryFolder root_;
};

}  // namespace

TEST_CASE("memory of a machine without control groups") {
  const MachineMemory memory = Machine().memory();
  CHECK(memory.largest == 10 * gibibyte);
  CHECK(memory.available == 6 * gibibyte);
}

TEST_CASE("a control group of version 2 limits memory, and so do those above it") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/job/step\n");
  machine.write("sys/fs/cgroup/job/memory.max", "4294967296\n");
  machine.write("sys/fs/cgroup/job/memory.current", "3221225472\n");
  machine.write("sys/fs/cgroup/job/memory.stat", "anon 5\nactive_file 7\ninactive_file 1073741824\n");
  machine.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  CHECK(machine.memory().largest == 6 * gibibyte);
  CHECK(machine.memory().available == 2 * gibibyte);  // the page cache that nobody uses gives way
  machine.write("sys/fs/cgroup/job/step/memory.max", "1073741824\n");
  CHECK(machine.memory().largest == 3 * gibibyte);
  CHECK(machine.memory().available == 1 * gibibyte);
}

TEST_CASE("in a container the mount is the group, whatever path the host gave it") {
  const Machine machine;
  machine.write("proc/self/cgroup", "0::/\n");
  machine.write("sys/fs/cgroup/memory.max", "2147483648\n");
  machine.write("sys/fs/cgroup/memory.current", "9999999999\n");
  CHECK(machine.memory().largest == 4 * gibibyte);
  CHECK(machine.memory().available == 0);
}

TEST_CASE("a control group of version 1 limits memory") {
  const Machine machine;
  machine.write("proc/self/cgroup", "5:cpu,cpuacct:/other\n4:memory:/gone/from/here\n0::/\n");
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");
  machine.write("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 2\n");
  machine.write("sys/fs/cgroup/memory/memory.usage_in_bytes", "1002\n");
  CHECK(machine.memory().largest == 3 * gibibyte);
  CHECK(machine.memory().available == gibibyte - 1000);
  machine.write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");  // none
  CHECK(machine.memory().largest == 10 * gibibyte);
}

TEST_CASE("a system that says nothing limits nothing") {
  const TemporaryFolder empty;
  CHECK(machine_memory(empty.path()).largest == MachineMemory::unknown);
  CHECK(machine_memory(empty.path()).available == MachineMemory::unknown);
}

TEST_CASE("this machine has more memory than this process uses") {
  CHECK(machine_memory().largest > resident_bytes());
  CHECK(machine_memory().available > 0);
}
