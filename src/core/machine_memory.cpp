#include <monomorph/core/machine_memory.hpp>

#include <monomorph/core/process_memory.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

namespace monomorph {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Nothing for what is no number: a missing file, "max".
std::optional<std::int64_t> number_in(const std::string& text) {
  std::int64_t number = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
  return result.ec == std::errc{} ? std::optional(number) : std::nullopt;
}

/// The number behind "<key> " at the begin of a line of a memory.stat, 0 if there is none.
std::int64_t statistic(const std::string& text, const std::string& key) {
  const std::string found = "\n" + key + " ";
  const std::size_t at = ("\n" + text).find(found);
  return at == std::string::npos ? 0 : number_in(text.substr(at + found.size() - 1)).value_or(0);
}

/// Where a version of control groups keeps things.
struct GroupFiles {
  std::string mount, limit, usage, reclaimable;
};
const GroupFiles version_1{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                           "total_inactive_file"};
const GroupFiles version_2{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

/// A group is bound by those above it, too. In a container its own path may not be there, and the mount is its group.
void limit_by_groups(const fs::path& root, const GroupFiles& files, fs::path group, MachineMemory& memory) {
  const fs::path mount = root / files.mount;
  for (bool at_mount = false; !at_mount; group = group.parent_path()) {
    at_mount = group.empty();
    const fs::path folder = at_mount ? mount : mount / group;
    const auto limit = number_in(text_of(folder / files.limit));
    if (!limit) continue;
    memory.largest = std::min(memory.largest, *limit);
    const std::int64_t used = number_in(text_of(folder / files.usage)).value_or(0) -
                              statistic(text_of(folder / "memory.stat"), files.reclaimable);
    memory.available = std::min(memory.available, std::max(*limit - used, std::int64_t{0}));
  }
}

/// Lines are "<number>:<controllers>:<path>"; those of version 2 have no controllers.
void limit_by_control_groups(const fs::path& root, MachineMemory& memory) {
  std::ifstream lines(root / "proc/self/cgroup");
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    if (controllers == ",,") limit_by_groups(root, version_2, group, memory);
    if (controllers.find(",memory,") != std::string::npos) limit_by_groups(root, version_1, group, memory);
  }
}

}  // namespace

MachineMemory machine_memory(const std::string& root) {
  const fs::path base = root + "/";
  MachineMemory memory;
  const std::string meminfo = text_of(base / "proc/meminfo");
  const std::int64_t total = status_bytes(meminfo, "MemTotal");
  if (total > 0) memory = {total, status_bytes(meminfo, "MemAvailable")};
  limit_by_control_groups(base, memory);
  // A group may have a limit for swap, too. What is beyond memory and swap together fails in any case.
  if (memory.largest != MachineMemory::unknown) memory.largest += status_bytes(meminfo, "SwapTotal");
  return memory;
}

}  // namespace monomorph
