#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What a folder of checkpoints is for those who save into it: where a step goes, and what is removed for it.
namespace monomorph::runtime {

/// Where the checkpoint of a step lies.
std::string step_path(const std::string& folder, std::int64_t step);

/// The folder that the ranks fill. Each save has another one, so that ranks that outlive their own run do not write
/// into another run's.   @param token another one in each save
std::string partial_path(const std::string& folder, std::int64_t step, std::int64_t token);

/// What interrupted saves and deletions have left: paths.   @throws [FILE-03]
std::vector<std::string> leftovers_in(const std::string& folder);

/// Deletes a folder with all that is in it.   @param warnings receives that it could not be deleted, which ends no run
void remove_or_warn(const std::string& path, std::vector<std::string>& warnings);

/// Makes a folder that is complete the checkpoint of its step, which is durable when `folder` has been flushed.
/// @return where the checkpoint of the same step is that it has taken the place of; it may be deleted then, and not
///   before
/// @throws [FILE-03]; then the folder stays where it was
std::optional<std::string> put_in_place(const std::string& complete, const std::string& folder, std::int64_t step,
                                        std::vector<std::string>& warnings);

/// @throws UsageError [CHECKPOINT-06] if no checkpoint would be kept
void check_retention(const Retention& retention);

/// Deletes the checkpoints that are not to be kept, never that of `saved_step`. Only what can be loaded counts as kept;
/// what cannot is left for people to look at.
void discard_old(const std::string& folder, std::int64_t saved_step, const Retention& retention,
                 std::vector<std::string>& warnings);

}  // namespace monomorph::runtime
