#include "emulator/block_races.hpp"

#include <execinfo.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string_view>

extern "C" const char __executable_start;  // of the linker: where the program lies in memory

namespace monomorph::emulator {
namespace {

constexpr int most_calls = 64;

/// Each function that a place of the code lies in, the innermost first, with file and line, if addr2line is there.
std::vector<std::string> functions_around(const std::vector<void*>& calls) {
  if (calls.empty()) return {};  // addr2line would read addresses from the standard input
  std::ostringstream command;
  command << "addr2line -Cfip -e /proc/" << getpid() << "/exe" << std::hex;
  for (void* const call : calls) command << " 0x" << static_cast<const char*>(call) - &__executable_start - 1;
  command << " 2>/dev/null";
  std::vector<std::string> lines;
  std::FILE* const pipe = popen(command.str().c_str(), "r");
  if (pipe == nullptr) return lines;
  std::string line;
  for (int c; (c = std::fgetc(pipe)) != EOF;) {
    if (c != '\n')
      line += static_cast<char>(c);
    else
      lines.push_back(std::move(line)), line.clear();
  }
  pclose(pipe);
  for (std::string& each : lines) {
    constexpr std::string_view inlined = " (inlined by) ";
    if (each.starts_with(inlined)) each.erase(0, inlined.size());
  }
  return lines;
}

/// The kernel is what calls all others, and is called by std::apply, as cudaLaunchKernelEx keeps its arguments.
std::string text_of_calls(const std::vector<void*>& calls) {
  std::ostringstream text;
  const std::vector<std::string> functions = functions_around(calls);
  const auto kernel = std::ranges::find_if(functions, [](const std::string& function) {
    return function.find(" std::__invoke") != std::string::npos || function.starts_with("std::");
  });
  if (kernel == functions.begin() || kernel == functions.end()) {
    for (const void* const call : calls) text << ' ' << static_cast<const char*>(call) - &__executable_start;
    return "calls around it, as addresses in the program:" + text.str();
  }
  text << "kernel " << kernel[-1];
  if (kernel - functions.begin() > 1) text << ", in " << functions.front();
  return text.str();
}

std::string_view verb_of(BlockRaces::Kind kind) {
  constexpr std::array<std::string_view, BlockRaces::n_kinds> verbs{"reads", "writes", "reads atomically",
                                                                    "writes atomically"};
  return verbs[kind];
}

}  // namespace

BlockRaces& BlockRaces::the() {
  static BlockRaces& races = *new BlockRaces;
  return races;
}

/// Numbers of blocks grow from launch to launch, so that pages need not be cleared. They are given back all at once.
void BlockRaces::launch_begins(dim3 grid) {
  if (grid.count() > std::numeric_limits<std::uint32_t>::max() - end_of_launch_)
    throw std::logic_error("more blocks than their races are looked for in; run fewer of them in one program");
  launch_ = end_of_launch_;
  end_of_launch_ += static_cast<std::uint32_t>(grid.count());
  if (pages_.size() <= most_pages) return;
  for (const auto& [number, page] : pages_) unused_pages_.push_back(page);
  pages_.clear();
  recent_ = {};
}

/// Other blocks had memory of their own there.
void BlockRaces::block_gets(const void* memory, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin; at < begin + bytes;) {
    const std::size_t n = std::min<std::size_t>(begin + bytes - at, page_bytes - at % page_bytes);
    Page& page = page_of(at);
    for (auto& first : page.first) std::fill_n(first.begin() + static_cast<std::ptrdiff_t>(at % page_bytes), n, 0);
    at += n;
  }
}

/// Not before, as a thread's stack is small.
void BlockRaces::launch_ends() {
  for (const Race& race : std::exchange(races_, {})) found_race(text_of(race), reinterpret_cast<void*>(race.at));
}

BlockRaces::Page& BlockRaces::find_page(std::uintptr_t number) {
  Page*& page = pages_[number];
  if (page == nullptr) {
    if (unused_pages_.empty()) unused_pages_.push_back(all_pages_.emplace_back(std::make_unique<Page>()).get());
    page = unused_pages_.back();
    unused_pages_.pop_back();
  }
  return *page;
}

void BlockRaces::note(Kind kind, std::uintptr_t at, std::size_t bytes, const void* code) {
  if (!found_at_.emplace(code, kind).second) return;
  Race race{
      .kind = kind, .other_kind = kind, .block = block_ - launch_, .other = 0, .at = at, .code = code, .calls = {}};
  const Page& page = page_of(at);
  for (std::size_t i = 0; i < bytes; ++i)
    for (const Kind other : {reads, writes, reads_atomically, writes_atomically}) {
      const std::uint32_t first = page.first[other][at % page_bytes + i];
      if (are_race(kind, other) && is_of_other(first))
        race.other_kind = other, race.other = first - launch_, race.at = at + i;
    }
  std::array<void*, most_calls> calls{};
  const auto n = static_cast<std::size_t>(backtrace(calls.data(), most_calls));
  race.calls.assign(std::ranges::find(calls.begin(), calls.begin() + n, code), calls.begin() + n);
  races_.push_back(std::move(race));
}

std::string BlockRaces::text_of(const Race& race) const {
  std::ostringstream text;
  text << "block " << race.block << " of a launch " << verb_of(race.kind) << " what block " << race.other << ' '
       << verb_of(race.other_kind) << ", and nothing orders blocks; " << text_of_calls(race.calls);
  return text.str();
}

}  // namespace monomorph::emulator
