#include "data/prepare/pack_output.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/formats/span_index.hpp>
#include <monomorph/data/records/input_file.hpp>
#include <monomorph/data/work/interruption.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

namespace monomorph::data {
namespace {

namespace fs = std::filesystem;

/// The header of a packed file is written last, which devices and pipes do not allow.
void refuse_device_or_pipe(const std::string& target) {
  std::error_code unreadable;  // whoever writes is told why
  const fs::file_status status = fs::status(target, unreadable);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  throw UsageError("DATA-25",
                   in_quotes(target) +
                       " is a device or a pipe, and the header of a packed file is written last; give a file");
}

void check_identity(const PackIdentity& before, const PackIdentity& now, const std::string& partial_path) {
  const auto [old_item, new_item] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  if (old_item == before.end() && new_item == now.end()) return;
  const bool comparable = old_item != before.end() && new_item != now.end() && old_item->first == new_item->first;
  throw UsageError("DATA-24",
                   fmt::format("{} cannot be resumed: {}; give the same again, or --force to begin anew",
                               in_quotes(partial_path),
                               comparable ? fmt::format("{} was {} and is {}", new_item->first,
                                                        in_quotes(old_item->second), in_quotes(new_item->second))
                                          : "its journal is damaged or of another version"));
}

}  // namespace

std::string unfinished_path(const std::string& output) { return output_target(output) + ".partial"; }

PackOutput::PackOutput(const std::string& output, const PackIdentity& identity, std::uint32_t bytes_per_token,
                       Unfinished unfinished)
    : target_(output_target(output)),
      partial_path_(unfinished_path(output)),
      journal_path_(partial_path_ + ".journal"),
      bytes_per_token_(bytes_per_token),
      keep_unfinished_(unfinished == Unfinished::resume) {
  refuse_device_or_pipe(target_);
  const bool has_journal = fs::exists(fs::symlink_status(journal_path_));
  if (!has_journal && !fs::exists(fs::symlink_status(partial_path_))) {
    begin(identity);
    return;
  }
  // Throws if another process has the journal open.
  if (has_journal) journal_.emplace(journal_path_, PackJournal::Mode::existing);
  if (unfinished == Unfinished::refuse || (unfinished == Unfinished::resume && !has_journal)) {
    throw UsageError("DATA-22", fmt::format("{} is left of a run that did not end{}", in_quotes(partial_path_),
                                            has_journal ? "; --resume goes on from it, --force begins anew"
                                                        : " and has lost its journal; --force begins anew"));
  }
  if (unfinished == Unfinished::resume) {
    resume(identity);
    return;
  }
  remove_files();
  begin(identity);
}

PackOutput::~PackOutput() {
  if (ours_ && !(keep_unfinished_ && totals_.input_end > 0)) remove_files();
}

void PackOutput::remove_files() {
  ::unlink(partial_path_.c_str());
  ::unlink(journal_path_.c_str());
}

void PackOutput::begin(const PackIdentity& identity) {
  journal_.emplace(journal_path_, PackJournal::Mode::create_new);
  try {
    journal_->write_identity(identity);
    file_.emplace(partial_path_, OutputFile::Mode::create_new);
    file_->write(packed_header(0, bytes_per_token_));
  } catch (...) {
    remove_files();
    throw;
  }
  ours_ = true;
}

void PackOutput::resume(const PackIdentity& identity) {
  check_identity(journal_->read_identity(), identity, partial_path_);
  if (!fs::exists(partial_path_)) OutputFile(partial_path_, OutputFile::Mode::create_new);
  InputFile partial(partial_path_);
  std::string tokens;
  partial.seek(packed_header_bytes);
  // After a crash, the disk may have entries whose tokens it does not have.
  journal_->read_entries([&](const JournalEntry& entry) {
    tokens.clear();
    while (tokens.size() < entry.n_token_bytes && partial.read_more(tokens, entry.n_token_bytes - tokens.size())) {
    }
    const bool good = tokens.size() == entry.n_token_bytes &&
                      xxh64(std::as_bytes(std::span(tokens.data(), tokens.size()))) == entry.token_hash;
    if (good) count(entry, std::as_bytes(std::span(tokens.data(), tokens.size())));
    return good;
  });
  file_.emplace(partial_path_, OutputFile::Mode::existing);
  file_->truncate(packed_header_bytes + totals_.n_token_bytes);
  ours_ = true;
}

void PackOutput::count(const JournalEntry& entry, std::span<const std::byte> tokens) {
  if (tokens.size() >= bytes_per_token_) {
    const auto last = tokens.last(bytes_per_token_);
    last_token_.assign(last.begin(), last.end());
  }
  totals_.input_end = entry.input_end;
  totals_.n_lines += entry.n_lines;
  totals_.n_skipped += entry.n_skipped;
  totals_.n_documents += entry.n_documents;
  totals_.n_empty_documents += entry.n_empty_documents;
  totals_.n_token_bytes += entry.n_token_bytes;
  if (totals_.report.empty()) totals_.report = entry.report.substr(0, entry.report.find('\n'));
}

void PackOutput::add(const JournalEntry& entry, std::span<const std::byte> tokens) {
  file_->write(tokens);
  journal_->append(entry);
  count(entry, tokens);
}

void PackOutput::write_report(AtomicFile& report) {
  journal_->read_entries([&report](const JournalEntry& entry) {
    throw_if_interrupted();
    report.write(entry.report);
    return true;
  });
}

void PackOutput::finish() {
  SpanIndexWriter index([this](std::span<const std::byte> bytes) { file_->write(bytes); });
  std::uint64_t offset = 0;
  journal_->read_entries([&](const JournalEntry& entry) {
    throw_if_interrupted();
    for_each_length(entry.document_lengths, [&](std::uint64_t length) {
      index.add({offset, length});
      offset += length;
    });
    return true;
  });
  index.finish();
  file_->write_at(0, packed_header(totals_.n_token_bytes, bytes_per_token_));
  file_->sync();
}

void PackOutput::commit() {
  if (std::rename(partial_path_.c_str(), target_.c_str()) != 0) throw_file_error("write", target_, errno);
  ours_ = false;
  const fs::path folder = fs::path(target_).parent_path();
  sync_folder(folder.empty() ? "." : folder.string());
  ::unlink(journal_path_.c_str());
}

}  // namespace monomorph::data
