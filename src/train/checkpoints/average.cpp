#include <monomorph/train/checkpoints/average.hpp>

#include "core/is_there.hpp"
#include "core/json_text.hpp"
#include "core/new_run_folder.hpp"
#include "runtime/comm/one_rank.hpp"
#include "tensor_pieces.hpp"
#include "train/weights/averaged_name.hpp"
#include "train/weights/companion_files.hpp"
#include "train/weights/run_folder_of.hpp"
#include "train/weights/special_token_ids.hpp"
#include "weights_for_use.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/train/checkpoints/single_file.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>

namespace monomorph::train {
namespace {

/// A weight as a model is used with it.
const runtime::CheckpointReader::Tensor& weight_in(const runtime::CheckpointReader& checkpoint,
                                                   const std::string& name) {
  return *checkpoint.find(name_for_use(checkpoint, name));
}

[[noreturn]] void refuse(const runtime::CheckpointReader& first, const runtime::CheckpointReader& other,
                         const std::string& why) {
  throw UsageError("CHECKPOINT-32", fmt::format("{} and {} have no average: {}; give checkpoints of one model",
                                                in_quotes(first.path()), in_quotes(other.path()), why));
}

/// What shapes the state differs; by name, as far as the checkpoints say.
std::string differing_state(const runtime::CheckpointMetadata& first, const runtime::CheckpointMetadata& other) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : first.recipe_facts) {
    const auto found = other.recipe_facts.find(name);
    if (found != other.recipe_facts.end() && found->second != value)
      lines.push_back(fmt::format("{} is {} and {}", name, value, found->second));
  }
  constexpr std::size_t most_named = 3;
  if (lines.size() > most_named) lines.resize(most_named);
  return lines.empty() ? "their recipes have states of different kinds" : fmt::format("{}", fmt::join(lines, ", "));
}

/// Whether it is a part of a matrix in NF4, whose codes and scales have no mean.
bool is_of_nf4(const runtime::CheckpointReader& checkpoint, const std::string& name) {
  for (const std::string_view suffix : {codes_suffix, absmax_suffix, nested_absmax_suffix, offset_suffix}) {
    if (!name.ends_with(suffix)) continue;
    const auto* const codes = checkpoint.find(name.substr(0, name.size() - suffix.size()) + std::string(codes_suffix));
    if (codes != nullptr && !is_floating_point(codes->dtype)) return true;
  }
  return false;
}

bool has_equal_bytes(runtime::CheckpointReader& first, runtime::CheckpointReader& other, const std::string& name) {
  std::vector<std::byte> left, right;
  bool are_equal = true;
  for_each_piece(first.find(name)->n_elements, [&](std::int64_t begin, std::int64_t n) {
    if (!are_equal) return;
    read_piece(first, name, begin, n, left);
    read_piece(other, name, begin, n, right);
    are_equal = left == right;
  });
  return are_equal;
}

void check_alike(runtime::CheckpointReader& first, runtime::CheckpointReader& other) {
  if (first.metadata().state_fingerprint != other.metadata().state_fingerprint)
    refuse(first, other, differing_state(first.metadata(), other.metadata()));
  const std::vector<std::string> names = weight_names(first);
  if (names != weight_names(other)) refuse(first, other, "the names of their weights differ");
  for (const std::string& name : names) {
    const runtime::CheckpointReader::Tensor &left = weight_in(first, name), &right = weight_in(other, name);
    if (left.shape != right.shape || left.dtype != right.dtype)
      refuse(first, other, fmt::format("{} has another shape or dtype there", in_quotes(name)));
    if (is_of_nf4(first, name)) {
      if (!has_equal_bytes(first, other, name))
        refuse(first, other, fmt::format("{} is of a matrix in NF4 that is another one there", in_quotes(name)));
    } else if (!is_floating_point(left.dtype))
      refuse(first, other, fmt::format("{} is not of floating-point numbers", in_quotes(name)));
  }
}

std::vector<double> checked_shares(std::vector<double> shares, std::size_t n) {
  if (shares.empty()) shares.assign(n, 1);
  const bool are_positive = std::ranges::all_of(shares, [](double share) { return std::isfinite(share) && share > 0; });
  if (shares.size() != n || !are_positive)
    throw UsageError("CHECKPOINT-33",
                     fmt::format("each of the {} checkpoints must have one positive weight, and the weights are [{}]; "
                                 "give as many, or none for equal ones",
                                 n, fmt::join(shares, ", ")));
  return shares;
}

/// Gives the weights of the mean, piece by piece.
class WeightedMean {
 public:
  WeightedMean(std::vector<runtime::CheckpointReader>& checkpoints, std::vector<double> shares)
      : checkpoints_(checkpoints),
        shares_(std::move(shares)),
        total_(std::accumulate(shares_.begin(), shares_.end(), 0.0)) {}

  void give(const std::string& name, const runtime::ByteSink& sink) {
    const runtime::CheckpointReader::Tensor& tensor = weight_in(checkpoints_.front(), name);
    if (is_of_nf4(checkpoints_.front(), name)) return copy(name, tensor, sink);
    for_each_piece(tensor.n_elements, [&](std::int64_t first, std::int64_t n) {
      sums_.assign(static_cast<std::size_t>(n), 0);
      for (std::size_t i = 0; i < checkpoints_.size(); ++i)
        add(checkpoints_[i], name_for_use(checkpoints_[i], name), first, shares_[i]);
      for (double& sum : sums_) sum /= total_;
      n_non_finite_ += std::ranges::count_if(sums_, [](double mean) { return !std::isfinite(mean); });
      narrow(sums_, tensor.dtype, bytes_);
      sink(bytes_);
    });
  }
  std::int64_t n_non_finite() const { return n_non_finite_; }

 private:
  /// What is the same in all.
  void copy(const std::string& name, const runtime::CheckpointReader::Tensor& tensor, const runtime::ByteSink& sink) {
    for_each_piece(tensor.n_elements, [&](std::int64_t first, std::int64_t n) {
      read_piece(checkpoints_.front(), name, first, n, bytes_);
      sink(bytes_);
    });
  }
  void add(runtime::CheckpointReader& checkpoint, const std::string& name, std::int64_t first, double share) {
    read_piece(checkpoint, name, first, std::ssize(sums_), bytes_);
    widen(checkpoint.find(name)->dtype, bytes_, numbers_);
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += share * numbers_[i];
  }

  std::vector<runtime::CheckpointReader>& checkpoints_;
  const std::vector<double> shares_;
  const double total_;
  std::vector<double> sums_, numbers_;
  std::vector<std::byte> bytes_;
  std::int64_t n_non_finite_ = 0;
};

using Json = nlohmann::ordered_json;

Json::json_pointer place_of_start() { return Json::json_pointer("/weights/from"); }

/// What a checkpoint's run began with, as its hyperparameters have it; null if they do not say.
Json start_of(const runtime::CheckpointReader& checkpoint) {
  const Json told = parsed_ordered_json(checkpoint.metadata().hyperparameters);
  return told.contains(place_of_start()) ? told.at(place_of_start()) : Json();
}

/// Those of one of the runs, but for what is not so of the mean. By a start that is not that of all, its adapters would
/// be exported as those of that base alone.
std::string hyperparameters_of_average(const std::string& of_run, bool same_start) {
  Json told = parsed_ordered_json(of_run);
  if (!same_start && told.contains(place_of_start())) told[place_of_start()] = "";
  if (const Json::json_pointer place("/checkpoint/directory"); told.contains(place)) told[place] = "checkpoints";
  return told.dump();
}

/// It says that the checkpoint holds weights alone, and leaves out evaluations, which were of other weights.
runtime::CheckpointMetadata metadata_of_average(const std::vector<runtime::CheckpointReader>& checkpoints) {
  const auto step = [](const runtime::CheckpointReader& checkpoint) { return checkpoint.metadata().step; };
  runtime::CheckpointMetadata metadata = std::ranges::max_element(checkpoints, {}, step)->metadata();
  const bool same_start =
      std::ranges::adjacent_find(checkpoints, std::ranges::not_equal_to(), start_of) == checkpoints.end();
  metadata.hyperparameters = hyperparameters_of_average(metadata.hyperparameters, same_start);
  std::erase_if(metadata.counters, [](const auto& counter) { return runtime::is_of_evaluation(counter.first); });
  metadata.counters[runtime::weights_alone_counter] = std::int64_t{1};
  return metadata;
}

std::vector<runtime::CheckpointReader> open_alike(const std::vector<std::string>& paths) {
  std::vector<runtime::CheckpointReader> checkpoints;
  for (const std::string& path : paths) {
    checkpoints.emplace_back(path);
    check_alike(checkpoints.front(), checkpoints.back());
  }
  return checkpoints;
}

/// Unlike a run's, a mean's folder is made alone: a folder above it that is missing is a slip of the pen.
void check_folder_above(const std::string& output) {
  std::filesystem::path path = std::filesystem::absolute(output);
  if (!path.has_filename()) path = path.parent_path();  // it ends with a slash
  if (!is_folder(path.parent_path().string())) throw_file_error("create the folder", output, ENOENT);
}

}  // namespace

AveragedCheckpoints average_checkpoints(const std::vector<std::string>& paths, std::vector<double> shares,
                                        const std::string& output) {
  shares = checked_shares(std::move(shares), paths.size());
  check_output(output, paths);
  std::vector<runtime::CheckpointReader> checkpoints = open_alike(paths);
  WeightedMean mean(checkpoints, std::move(shares));
  std::vector<runtime::PartToSave> parts;
  const runtime::CheckpointReader& first = checkpoints.front();
  const std::vector<std::string> names = weight_names(first);
  for (const std::string& name : names) {
    const runtime::CheckpointReader::Tensor& tensor = weight_in(first, name);
    parts.push_back({{.name = name,
                      .dtype = tensor.dtype,
                      .shape = tensor.shape,
                      .give = [&](const runtime::ByteSink& sink) { mean.give(name, sink); }},
                     RegionRun::whole(dims_of(tensor.shape))});
  }
  check_folder_above(output);
  NewRunFolder folder(output, "CHECKPOINT-30");
  const std::string last_run = run_folder_of(paths.back());
  copy_companion_files(last_run, output);
  keep_special_token_ids(special_token_ids(last_run), output);
  OneRank one_rank;
  runtime::SavedCheckpoint saved =  // last, as a run folder without a checkpoint is none
      runtime::save_checkpoint(output + "/checkpoints", metadata_of_average(checkpoints), one_rank, parts,
                               {.latest = 1}, throw_if_truncated);
  folder.keep();
  if (names.size() < first.names().size())
    saved.warnings.insert(saved.warnings.begin(),
                          "the state of the optimiser is left out: runs begin from the average by weights.from, and do "
                          "not resume from it");
  if (std::ranges::any_of(checkpoints, has_average))
    saved.warnings.push_back(
        std::string("the mean is of the moving averages of the weights, which the optimiser kept") +
        (std::ranges::all_of(checkpoints, has_average) ? "" : "; of checkpoints without, of the weights themselves"));
  if (mean.n_non_finite() > 0)
    saved.warnings.push_back(fmt::format("{} elements of the mean are not finite", mean.n_non_finite()));
  return {saved.path, std::move(saved.warnings)};
}

}  // namespace monomorph::train
