#pragma once
#include "data/prepare/pack_journal.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::data {

/// A packed file on its way: `<output>.partial` with its journal, renamed to its place by commit().
class PackOutput {
 public:
  /// Begins, or goes on where an earlier run was; totals() says where.
  /// @throws [DATA-22], [DATA-23], [DATA-24], [DATA-25]; [FILE-NN]
  PackOutput(const std::string& output, const PackIdentity& identity, std::uint32_t bytes_per_token,
             Unfinished unfinished);
  PackOutput(const PackOutput&) = delete;
  /// Removes what is unfinished unless it may be resumed.
  ~PackOutput();

  /// Takes a piece of the input and its tokens, which follow those before.
  void add(const JournalEntry& entry, std::span<const std::byte> tokens);
  /// The sums of all entries; `input_end` that of the last one, `report` its first line.
  const JournalEntry& totals() const noexcept { return totals_; }
  /// As it lies in the file; empty if there is none so far.
  const std::vector<std::byte>& last_token() const noexcept { return last_token_; }
  /// Writes the lines of the report of all entries.
  void write_report(AtomicFile& report);
  /// Adds the index and puts everything on the disk, but not yet in its place.
  void finish();
  /// Puts the finished file in its place.
  void commit();
  const std::string& partial_path() const noexcept { return partial_path_; }

 private:
  void begin(const PackIdentity& identity);
  void resume(const PackIdentity& identity);
  void count(const JournalEntry& entry, std::span<const std::byte> tokens);
  void remove_files();

  std::string target_, partial_path_, journal_path_;
  std::uint32_t bytes_per_token_;
  bool keep_unfinished_;
  bool ours_ = false;  ///< the files are to be removed when we fail
  std::optional<PackJournal> journal_;
  std::optional<OutputFile> file_;
  JournalEntry totals_;
  std::vector<std::byte> last_token_;
};

}  // namespace monomorph::data
