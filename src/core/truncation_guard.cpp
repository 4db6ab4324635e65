#include "core/mapping_table.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace monomorph {
namespace {

enum class Note { none, being_written, complete };
std::atomic<Note> note{Note::none};
std::array<char, 256> noted_path;
static_assert(std::atomic<Note>::is_always_lock_free, "a signal handler may use no other atomics");
std::uintptr_t page_mask;

/// The first file counts: one is enough to stop.
void note_file(const char* path) {
  Note none = Note::none;
  if (!note.compare_exchange_strong(none, Note::being_written)) return;
  std::size_t i = 0;
  for (; path[i] != '\0' && i + 1 < noted_path.size(); ++i) noted_path[i] = path[i];
  noted_path[i] = '\0';
  note.store(Note::complete);
}

/// Puts zeros in the place of what a mapping has lost, from the page of `address` to its end.
bool replace_lost_pages(const MappingTable::Mapping& mapping, const void* address) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address) & page_mask;
  const auto end = reinterpret_cast<std::uintptr_t>(mapping.bytes.data() + mapping.bytes.size());
  return ::mmap(reinterpret_cast<void*>(begin), end - begin, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                0) != MAP_FAILED;
}

/// Calls nothing but mmap and sigaction, which are system calls and no more.
void on_bus_error(int signal_number, siginfo_t* info, void* /*context*/) {
  const int saved_errno = errno;
  const auto mapping = MappingTable::find(info->si_addr);
  if (mapping && replace_lost_pages(*mapping, info->si_addr)) {
    note_file(mapping->path);
  } else {
    struct sigaction usual {};
    usual.sa_handler = SIG_DFL;
    ::sigaction(signal_number, &usual, nullptr);  // the access is tried again, and ends the program
  }
  errno = saved_errno;
}

}  // namespace

TruncationGuard::TruncationGuard() {
  note = Note::none;
  page_mask = ~(static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE)) - 1);
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, &former_action_);
}

TruncationGuard::~TruncationGuard() { ::sigaction(SIGBUS, &former_action_, nullptr); }

void throw_if_truncated() {
  if (note.load() == Note::complete) throw_changed_file(noted_path.data());
}

void forget_truncated(std::string_view folder) {
  if (note.load() != Note::complete) return;
  const std::string_view path(noted_path.data());  // of which there may be the beginning alone
  folder = folder.substr(0, noted_path.size() - 1);
  if (path.starts_with(folder) && (path.size() == folder.size() || folder.ends_with('/') || path[folder.size()] == '/'))
    note.store(Note::none);
}

}  // namespace monomorph
