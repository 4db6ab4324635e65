#include "train/run/ranks/config_consistency.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/describe/describe.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

namespace monomorph::train {
namespace {

/// The value that most ranks have; of two that as many have, that of the lowest rank.
std::string most_common(const std::vector<std::string>& values) {
  std::map<std::string, int> counts;
  for (const std::string& value : values) ++counts[value];
  return *std::ranges::max_element(values, {}, [&](const std::string& value) { return counts[value]; });
}

/// "optimizer.lr is 0.1 and elsewhere 0.2"
std::string difference(const std::string& odd, const std::string& common) {
  const auto there = nlohmann::json::parse(odd).flatten(), elsewhere = nlohmann::json::parse(common).flatten();
  for (const auto& [pointer, value] : there.items()) {
    const auto other = elsewhere.find(pointer);
    if (other != elsewhere.end() && *other == value) continue;
    std::string field = pointer.substr(1);
    std::ranges::replace(field, '/', '.');
    return fmt::format("{} is {} there and {} elsewhere", field, value.dump(),
                       other == elsewhere.end() ? "not set" : other->dump());
  }
  return "a value is missing there";
}

std::vector<std::size_t> unlike(const std::vector<std::string>& values, const std::string& common) {
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 0; rank < values.size(); ++rank)
    if (values[rank] != common) ranks.push_back(rank);
  return ranks;
}

std::string name(const std::vector<std::size_t>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

std::string key(std::string_view what, int rank) { return fmt::format("config_consistency/{}/{}", what, rank); }

constexpr std::string_view verdict_prefix = "verdict: ";  // some stores keep no empty value

/// Rank 0 compares the configurations and tells the others the result. It may serve the store, so it waits until all
/// have read that.
std::string broadcast_verdict(const World& world) {
  std::vector<RankConfig> ranks;
  ranks.reserve(static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank)
    ranks.push_back({world.get(key("recipe", rank), rank), world.get(key("hyperparameters", rank), rank)});
  std::string verdict = describe_mismatch(ranks);
  world.set("config_consistency/verdict", std::string(verdict_prefix) + verdict);
  for (int rank = 1; rank < world.size(); ++rank) world.get(key("heard", rank), rank);
  return verdict;
}

CheckpointIdentity checkpoint_identity(const std::optional<std::string>& checkpoint) {
  if (!checkpoint) return {};
  const runtime::CheckpointMetadata metadata = runtime::read_checkpoint_metadata(*checkpoint);
  Xxh64 hash;
  for (const runtime::CheckpointFile& file : metadata.files) hash.update(std::as_bytes(std::span(file.checksums)));
  return {metadata.step, std::bit_cast<std::int64_t>(hash.digest())};
}

std::string text(const CheckpointIdentity& start) {
  return fmt::format("step {} (checksum {:016x})", start.step, std::bit_cast<std::uint64_t>(start.checksum));
}

}  // namespace

std::string describe_mismatch(const std::vector<RankConfig>& ranks) {
  std::vector<std::string> fingerprints, hyperparameters;
  fingerprints.reserve(ranks.size());
  hyperparameters.reserve(ranks.size());
  for (const RankConfig& rank : ranks) {
    fingerprints.push_back(rank.fingerprint);
    hyperparameters.push_back(rank.hyperparameters);
  }
  const std::string recipe = most_common(fingerprints), values = most_common(hyperparameters);
  if (const auto odd = unlike(fingerprints, recipe); !odd.empty())
    return fmt::format(
        "{} runs a recipe with fingerprint {}, and the others {}; start the same program "
        "everywhere",
        name(odd), fingerprints[odd.front()], recipe);
  if (const auto odd = unlike(hyperparameters, values); !odd.empty())
    return fmt::format("{} has other hyperparameters: {}; give all ranks the same file and the same --set", name(odd),
                       difference(hyperparameters[odd.front()], values));
  return "";
}

void check_config_consistency(const World& world, const RecipeProgram& recipe, const Hparams& hparams) {
  if (world.size() == 1) return;
  world.set(key("recipe", world.rank()), fingerprint_text(recipe.fingerprint));
  world.set(key("hyperparameters", world.rank()), to_json(hparams));
  const std::string verdict = world.rank() == 0
                                  ? broadcast_verdict(world)
                                  : world.get("config_consistency/verdict", 0).substr(verdict_prefix.size());
  if (world.rank() > 0) world.set(key("heard", world.rank()), "yes");
  if (!verdict.empty()) throw UsageError("RANK-06", verdict);
}

std::string describe_mismatch(const std::vector<CheckpointIdentity>& ranks) {
  std::vector<std::string> starts;
  starts.reserve(ranks.size());
  for (const CheckpointIdentity& start : ranks) starts.push_back(text(start));
  const std::string common = most_common(starts);
  const auto odd = unlike(starts, common);
  if (odd.empty()) return "";
  return fmt::format(
      "{} would start from {}, and the others from {}, by the same path; let checkpoint.directory lie on a "
      "file system that all ranks share",
      name(odd), starts[odd.front()], common);
}

void check_same_checkpoint(Communicator& communicator, const std::optional<std::string>& checkpoint) {
  const CheckpointIdentity local =
      together(communicator, "read the checkpoint", [&] { return checkpoint_identity(checkpoint); });
  const std::vector<std::int64_t> words = all_gather_words(communicator, std::array{local.step, local.checksum});
  std::vector<CheckpointIdentity> ranks;
  ranks.reserve(communicator.size());
  for (std::size_t i = 0; i < words.size(); i += 2) ranks.push_back({words[i], words[i + 1]});
  if (const std::string line = describe_mismatch(ranks); !line.empty()) throw Error("RANK-20", line);
}

}  // namespace monomorph::train
