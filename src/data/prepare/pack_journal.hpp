#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::data {

/// What a piece of the input became: enough to go on behind it, and to write the index and the report at the end.
struct JournalEntry {
  std::uint64_t input_end = 0;  ///< all of the input before it is done
  std::uint64_t n_lines = 0, n_skipped = 0;
  std::uint64_t n_documents = 0, n_empty_documents = 0;  ///< that ended in this piece
  std::uint64_t n_token_bytes = 0, token_hash = 0;
  std::string document_lengths;  ///< of those that ended, in bytes of tokens; see append_length
  std::string report;            ///< lines of the report of what was skipped
};

/// Lengths are kept in as few bytes as they need.
void append_length(std::string& lengths, std::uint64_t length);
void for_each_length(const std::string& lengths, const std::function<void(std::uint64_t)>& visit);

/// What a journal belongs to: names and values that must all be equal for a run to be resumed.
using PackIdentity = std::vector<std::pair<std::string, std::string>>;

/// The file beside an unfinished output that says how far it is. It is locked while it is open, and every entry is
/// written at once and hashed, so that after a crash the last good entry is found.
class PackJournal {
 public:
  enum class Mode { create_new, existing };
  /// @throws [DATA-23] if another process has it open; [FILE-NN]
  PackJournal(std::string path, Mode mode);
  PackJournal(const PackJournal&) = delete;
  PackJournal& operator=(const PackJournal&) = delete;
  ~PackJournal();

  /// Writes what is packed, and how, into a new journal. Must come before anything else.
  void write_identity(const PackIdentity& identity);
  /// Empty if the journal is too damaged to have one.
  PackIdentity read_identity();
  void append(const JournalEntry& entry);
  /// Calls `visit` for the entries in turn until it returns false, one is damaged, or the journal ends, and forgets
  /// those that were not taken. To be called after read_identity() or write_identity().
  void read_entries(const std::function<bool(const JournalEntry&)>& visit);

 private:
  bool read(std::uint64_t offset, std::span<std::byte> bytes) const;
  std::optional<std::string> read_chunk(std::uint64_t& offset) const;
  void write(std::span<const std::byte> bytes);

  std::string path_;
  int descriptor_;
  std::uint64_t first_entry_ = 0, end_ = 0;
};

}  // namespace monomorph::data
