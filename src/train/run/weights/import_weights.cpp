#include "train/run/weights/import_weights.hpp"

#include "core/new_run_folder.hpp"
#include "train/run/saving/run_metadata.hpp"
#include "train/weights/adapter_folder.hpp"
#include "train/weights/companion_files.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/load_weights.hpp"
#include "train/weights/model_folder.hpp"
#include "train/weights/quantized_weights.hpp"
#include "train/weights/special_token_ids.hpp"
#include "train/weights/stream_elements.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

namespace monomorph::train {
namespace {

constexpr std::string_view advice_for_adapters =
    "give weights of the recipe's model and adapters of its targets, or change LowRankSpec::targets";

void check_is_free(const std::string& output) {
  std::error_code ignored;  // what can't be looked at will say so when it is written to
  if (!std::filesystem::exists(output, ignored) || std::filesystem::is_empty(output, ignored)) return;
  throw UsageError("WEIGHTS-06", fmt::format("there is something in {} already; name a folder that is to be made",
                                             in_quotes(output)));
}

runtime::PartToSave part_of(const CanonicalTensor& tensor, DType dtype, auto&& give) {
  const Dims dims = dims_of(tensor.shape);
  return {{.name = tensor.name, .dtype = file_dtype(dtype), .shape = {dims.begin(), dims.end()}, .give = give},
          RegionRun::whole(dims)};
}

/// The parts in NF4 of a matrix, each of which is made of the source's numbers when it is written.
void add_nf4_parts(const CanonicalTensor& tensor, WeightsSource& source, DType compute,
                   std::vector<runtime::PartToSave>& parts) {
  const Nf4Buffer sizes(tensor.shape.elements());
  const auto add = [&](std::string_view suffix, Shape shape, View Nf4Matrix::*part) {
    const auto give = [&source, name = tensor.name, compute, part](const runtime::ByteSink& sink) {
      const Nf4Buffer matrix = quantized(source, name, compute);
      const View view = matrix.matrix().*part;
      sink({view.data, static_cast<std::size_t>(view.bytes())});
    };
    parts.push_back(part_of({tensor.name + std::string(suffix), shape}, (sizes.matrix().*part).dtype, give));
  };
  add(codes_suffix, {tensor.shape.rows, tensor.shape.cols / 2}, &Nf4Matrix::codes);
  add(absmax_suffix, sizes.matrix().absmax.shape, &Nf4Matrix::absmax);
  add(nested_absmax_suffix, sizes.matrix().nested_absmax.shape, &Nf4Matrix::nested_absmax);
  add(offset_suffix, sizes.matrix().offset.shape, &Nf4Matrix::offset);
}

/// Whole tensors, whose bytes come from the source when they are written.
std::vector<runtime::PartToSave> parts_of(WeightsSource& source, const RecipeProgram& recipe,
                                          NonFiniteNumbers& numbers) {
  std::vector<runtime::PartToSave> parts;
  for (const CanonicalTensor& tensor : canonical_tensors(recipe)) {
    if (tensor.quantized) {
      add_nf4_parts(tensor, source, recipe.compute_dtype, parts);
      continue;
    }
    const auto give = [&, name = tensor.name, elements = tensor.shape.elements(),
                       dtype = recipe.master_dtype](const runtime::ByteSink& sink) {
      std::vector<std::byte> bytes;
      in_bounded_pieces(elements, [&](std::int64_t first, std::int64_t n) {
        const View to = sized(bytes, dtype, {1, n});
        source.read(name, first, to);
        count_non_finite(name, to, numbers);
        sink(bytes);
      });
    };
    parts.push_back(part_of(tensor, recipe.master_dtype, give));
  }
  for (const CanonicalTensor& record : record_tensors(recipe))
    parts.push_back(part_of(record, recipe.master_dtype,
                            [zeros = std::vector<std::byte>(
                                 static_cast<std::size_t>(record.shape.elements() * size_of(recipe.master_dtype)))](
                                const runtime::ByteSink& sink) { sink(zeros); }));
  return parts;
}

/// @throws UsageError [ADAPTER-05]; as open_weights, AdapterFolder
OpenedWeights open_imported(const Family& family, const std::string& folder, const std::string& adapters,
                            const RecipeProgram& recipe) {
  OpenedWeights opened = open_weights(folder, recipe, facts_that_import_changes());
  std::ranges::move(opened.notes_of_training, std::back_inserter(opened.notes));
  if (adapters.empty() && recipe.low_rank != nullptr)
    throw UsageError("ADAPTER-05", fmt::format("{} has adapters, and {} has none; give their folder with --adapter, or "
                                               "train new ones with weights.from={}",
                                               recipe.name, in_quotes(folder), folder));
  if (adapters.empty()) return opened;
  auto of_folder = std::make_unique<AdapterFolder>(adapters, family, recipe);
  opened.notes.insert(opened.notes.end(), of_folder->notes().begin(), of_folder->notes().end());
  return {std::make_unique<AdaptedWeights>(std::move(opened.source), std::move(of_folder)), std::move(opened.notes)};
}

}  // namespace

ImportedWeights import_weights(const RecipeProgram& recipe, const std::string& folder, const std::string& output,
                               const std::string& adapters) {
  const Family& family =
      *read_folder_model(folder, portable_model(recipe).has_masked_head).family;  // a checkpoint needs no import
  OpenedWeights opened = open_imported(family, folder, adapters, recipe);
  WeightsSource* const source = opened.source.get();
  std::vector<std::string> notes = std::move(opened.notes);
  check_tensors(*source, recipe, {}, adapters.empty() ? advice_for_weights : advice_for_adapters);
  source->check_copies();
  const nlohmann::json special_tokens = special_token_ids(folder);
  check_companion_files(folder);
  check_is_free(output);
  Hparams hparams = default_hparams(recipe.hparams);
  hparams.run.output_dir.value = output;
  hparams.weights.from.value = folder;
  choose_micro_batch(hparams, 1);
  runtime::CheckpointMetadata metadata = run_metadata(recipe, hparams, {}, 1);
  metadata.counters[std::string(weights_alone)] = std::int64_t{1};
  NonFiniteNumbers numbers;
  NewRunFolder made(output, "WEIGHTS-06");
  copy_companion_files(folder, output);
  keep_special_token_ids(special_tokens, output);
  const auto communicator = one_rank();
  const runtime::SavedCheckpoint saved =  // last, as a run folder without a checkpoint is none
      runtime::save_checkpoint(output + "/checkpoints", std::move(metadata), *communicator,
                               parts_of(*source, recipe, numbers), {.latest = 1}, throw_if_truncated);
  made.keep();
  if (!record_tensors(recipe).empty()) notes.emplace_back(records_begin_anew);
  if (std::string note = source->note_of_reading(); !note.empty()) notes.push_back(std::move(note));
  if (const std::string warning = warning_of(numbers, folder); !warning.empty()) notes.push_back(warning);
  notes.insert(notes.end(), saved.warnings.begin(), saved.warnings.end());
  return {saved.path, std::move(notes)};
}

}  // namespace monomorph::train
