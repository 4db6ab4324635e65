#include "checkpoint_in_progress.hpp"

#include "block_checksums.hpp"
#include "checkpoint_metadata.hpp"
#include "checkpoint_part.hpp"
#include "checkpoint_steps.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>
#include <utility>

namespace monomorph::runtime {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;

/// A rank's parts as a safetensors file has them: what is not whole is a run of elements, with a note of where it lies.
CheckpointFile write_rank_file(const std::string& folder, int rank, std::span<const PartToSave> parts,
                               const std::function<void()>& between_pieces) {
  std::vector<TensorToWrite> tensors;
  TensorMetadata notes;
  for (const PartToSave& part : parts) {
    check_run(part.run, part.tensor.shape, part.tensor.name);
    tensors.push_back(part.tensor);
    if (part.run.n == element_count(part.tensor.shape)) continue;
    tensors.back().shape = {part.run.n};
    notes[part.tensor.name] = note_of({part.tensor.shape, part.run});
  }
  CheckpointFile record{.name = checkpoint_metadata::rank_file_name(rank), .checksums = {}};
  OutputFile file(folder + "/" + record.name, OutputFile::Mode::create_new);
  BlockChecksums checksums;
  write_safetensors(
      [&](std::span<const std::byte> bytes) {
        for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), piece_bytes))) {
          const auto piece = bytes.first(std::min(bytes.size(), piece_bytes));
          file.write(piece);
          checksums.update(piece);
          between_pieces();
        }
      },
      tensors, notes);
  file.sync();
  record.n_bytes = checksums.n_bytes();
  record.block_bytes = BlockChecksums::block_bytes;
  record.checksums = checksums.finish();
  return record;
}

bool lies_in_region(const PartToSave& part) { return part.run.region != Region::whole(dims_of(part.tensor.shape)); }

void write_metadata(const std::string& folder, const CheckpointMetadata& metadata) {
  OutputFile file(folder + "/" + checkpoint_metadata::file_name, OutputFile::Mode::create_new);
  file.write(checkpoint_metadata::to_json(metadata));
  file.sync();
}

/// Creates the folder and those above it, each of them durably.
void create_folder(const std::filesystem::path& folder) {
  std::error_code failure;  // if this can't be found out, what is created in it gives the error
  if (folder.empty() || std::filesystem::exists(folder, failure) || failure) return;
  const std::filesystem::path parent =
      folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
  create_folder(parent);
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    throw_file_error("create the folder", folder.string(), errno);
  }
  sync_folder(parent.empty() ? "." : parent.string());
}

}  // namespace

CheckpointInProgress::CheckpointInProgress(std::string folder, CheckpointMetadata metadata, Communicator& communicator,
                                           const Retention& retention)
    : folder_(std::move(folder)),
      metadata_(std::move(metadata)),
      communicator_(communicator),
      retention_(retention),
      saved_{step_path(folder_, metadata_.step), {}} {
  check_retention(retention);
  metadata_.n_ranks = communicator.shards();
  const std::int64_t token = std::random_device{}();  // another one in each save
  path_ = partial_path(folder_, metadata_.step, token);
  try {
    together(communicator, "create the folder of a checkpoint", [this] { create(); });
    agree(token);
  } catch (const RankFailure&) {
    throw;  // other ranks may have begun to write
  } catch (const Error&) {
    remove();
    throw;
  }
}

CheckpointInProgress::~CheckpointInProgress() { remove(); }

void CheckpointInProgress::create() {
  if (communicator_.rank() > 0) return;
  create_folder(folder_);
  leftovers_ = leftovers_in(folder_);
  if (::mkdir(path_.c_str(), 0777) != 0) create_in_place_of_leftovers(errno);
  is_created_ = true;
}

/// On a disk that what earlier saves have left has filled. The step waits for it, as it would else fail for ever.
void CheckpointInProgress::create_in_place_of_leftovers(int failure) {
  const bool is_full = failure == ENOSPC || failure == EDQUOT;
  if (!is_full || leftovers_.empty()) throw_file_error("create the folder", path_, failure);
  remove_leftovers();
  leftovers_.clear();
  if (::mkdir(path_.c_str(), 0777) != 0) throw_file_error("create the folder", path_, errno);
}

/// What rank 0 has found and created is so on all ranks.
void CheckpointInProgress::agree(std::int64_t token) {
  const std::int64_t local[] = {token, leftovers_.empty() ? 0 : 1};
  const std::vector<std::int64_t> words = all_gather_words(communicator_, local);
  path_ = partial_path(folder_, metadata_.step, words[0]);
  has_leftovers_ = words[1] != 0;
}

/// Those alone that were there when the save began: what lies there by now may be another run's, if this one was held
/// up so long that another one has taken the folder.
void CheckpointInProgress::remove_leftovers() {
  for (const std::string& path : leftovers_) remove_or_warn(path, saved_.warnings);
}

void CheckpointInProgress::clear(const std::function<void()>& removed) {
  leaving_when_a_rank_is_lost([&] { together(communicator_, "remove what earlier saves have left", removed); });
}

void CheckpointInProgress::remove() noexcept {
  std::error_code ignored;  // the failure that brought us here is the one to report
  if (std::exchange(is_created_, false)) std::filesystem::remove_all(path_, ignored);
}

CheckpointFile CheckpointInProgress::write(std::span<const PartToSave> parts,
                                           const std::function<void()>& between_pieces) const {
  const int rank = communicator_.rank();
  return rank < communicator_.shards() ? write_rank_file(path_, rank, parts, between_pieces) : CheckpointFile{};
}

void CheckpointInProgress::gather(const std::function<CheckpointFile()>& written, std::span<const PartToSave> parts) {
  leaving_when_a_rank_is_lost(
      [&] { add_files_of_ranks(together(communicator_, "write its part of a checkpoint", written), parts); });
}

void CheckpointInProgress::add_files_of_ranks(const CheckpointFile& local, std::span<const PartToSave> parts) {
  const std::int64_t facts[] = {static_cast<std::int64_t>(local.n_bytes), std::ssize(local.checksums),
                                std::ranges::any_of(parts, lies_in_region)};
  constexpr std::size_t n_facts = std::size(facts);
  const std::vector<std::int64_t> all_facts = all_gather_words(communicator_, facts);
  std::int64_t most = 0;
  for (std::size_t i = 1; i < all_facts.size(); i += n_facts) most = std::max(most, all_facts[i]);
  std::vector<std::int64_t> words(static_cast<std::size_t>(most));
  std::ranges::transform(local.checksums, words.begin(),
                         [](std::uint64_t sum) { return static_cast<std::int64_t>(sum); });
  const std::vector<std::int64_t> all_words = all_gather_words(communicator_, words);
  metadata_.files.clear();
  metadata_.has_regions = false;
  for (int rank = 0; rank < communicator_.shards(); ++rank) {
    const std::int64_t* const of_rank = &all_facts[static_cast<std::size_t>(rank) * n_facts];
    const auto first = all_words.begin() + rank * most;
    metadata_.files.push_back({checkpoint_metadata::rank_file_name(rank),
                               static_cast<std::uint64_t>(of_rank[0]),
                               BlockChecksums::block_bytes,
                               {first, first + of_rank[1]}});
    metadata_.has_regions |= of_rank[2] != 0;
  }
}

void CheckpointInProgress::complete(const std::function<void()>& before_completing) {
  if (communicator_.rank() > 0) return;
  write_metadata(path_, metadata_);
  before_completing();
  const auto replaced = put_in_place(path_, folder_, metadata_.step, saved_.warnings);
  is_created_ = false;  // at its path is what was replaced, or nothing
  sync_folder(folder_);
  if (replaced) remove_or_warn(*replaced, saved_.warnings);
  discard_old(folder_, metadata_.step, retention_, saved_.warnings);
}

SavedCheckpoint CheckpointInProgress::finish(const std::function<void()>& complete) {
  leaving_when_a_rank_is_lost([&] { together(communicator_, "complete a checkpoint", complete); });
  return std::move(saved_);
}

void CheckpointInProgress::leaving_when_a_rank_is_lost(const std::function<void()>& act) {
  try {
    act();
  } catch (const RankFailure&) {
    leave();
    throw;
  }
}

SavedCheckpoint save_checkpoint(const std::string& folder, CheckpointMetadata metadata, Communicator& communicator,
                                std::span<const PartToSave> parts, const Retention& retention,
                                const std::function<void()>& before_completing) {
  CheckpointInProgress checkpoint(folder, std::move(metadata), communicator, retention);
  if (checkpoint.has_leftovers()) checkpoint.clear([&] { checkpoint.remove_leftovers(); });
  checkpoint.gather([&] { return checkpoint.write(parts); }, parts);
  return checkpoint.finish([&] { checkpoint.complete(before_completing); });
}

}  // namespace monomorph::runtime
