#include "train/run/weights/start_weights.hpp"

#include "core/as_usage_error.hpp"
#include "train/run/weights/open_together.hpp"
#include "train/weights/load_weights.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <algorithm>
#include <iterator>

namespace monomorph::train {
namespace {

constexpr const char* from_option = "weights.from";

/// With all notes, as the model is trained here.
OpenedWeights open_start_weights(const RecipeProgram& recipe, const WeightsHparams& choices, const std::string& path) {
  OpenedWeights opened = open_weights(path, recipe, facts_that_training_changes());
  check_tensors(*opened.source, recipe, choices);
  std::ranges::move(opened.notes_of_training, std::back_inserter(opened.notes));
  return opened;
}

}  // namespace

NonFiniteNumbers of_all_ranks(NonFiniteNumbers numbers, Communicator& communicator) {
  std::int64_t here = 0, everywhere = 0;
  for (const auto& [name, n] : numbers) here += n;
  std::vector<std::int64_t> counts = all_gather_words(communicator, {&here, 1});
  counts.resize(static_cast<std::size_t>(communicator.shards()));  // others have copies
  for (const std::int64_t n : counts) everywhere += n;
  if (everywhere > here) numbers["what other ranks hold"] = everywhere - here;
  return numbers;
}

std::vector<std::string> check_start_weights(const RecipeProgram& recipe, const Hparams& hparams) {
  if (hparams.weights.from.value.empty()) return {};
  return as_usage_error(from_option, [&] {
    OpenedWeights opened = open_start_weights(recipe, hparams.weights, hparams.weights.from.value);
    opened.source->check_copies();
    return std::move(opened.notes);
  });
}

std::vector<std::string> load_start_weights(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                                            Communicator& communicator) {
  if (hparams.weights.from.value.empty()) return {};
  OpenedWeights opened =
      open_together(from_option, hparams.weights.from.value, communicator,
                    [&](const std::string& found) { return open_start_weights(recipe, hparams.weights, found); });
  NonFiniteNumbers numbers;
  together(communicator, "load the weights", [&] {
    numbers = load_weights(*opened.source, hparams.weights, step);
    throw_if_truncated();
  });
  std::vector<std::string> lines = std::move(opened.notes);
  lines.push_back("weights from " + in_quotes(opened.source->where()) + "; all else begins anew");
  if (!record_tensors(recipe).empty()) lines.emplace_back(records_begin_anew);
  if (std::string note = opened.source->note_of_reading(); !note.empty()) lines.push_back(std::move(note));
  if (begins_adapters(*opened.source, recipe)) lines.push_back("adapters begin anew, as the weights have none");
  if (const std::string warning = warning_of(of_all_ranks(std::move(numbers), communicator), opened.source->where());
      !warning.empty())
    lines.push_back(warning);
  return lines;
}

}  // namespace monomorph::train
