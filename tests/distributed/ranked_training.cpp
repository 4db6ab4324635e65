#include "distributed/ranked_training.hpp"

#include "numerics/teacher.hpp"

#include "support/adamw_update.hpp"
#include "support/ranks.hpp"
#include "train/run/data/run_data.hpp"
#include "train/run/saving/state_parts.hpp"

#include <monomorph/plan/memory.hpp>

#include <fmt/ranges.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>

namespace monomorph::testing {
namespace {

constexpr std::int64_t n_rows = 64;

/// Rows of ids, of which every one counts another number of targets.
struct Rows {
  std::int64_t T;
  std::vector<std::int32_t> inputs, targets;
  explicit Rows(std::int64_t row_length) : T(row_length) {
    std::mt19937 random(1);
    for (std::int64_t i = 0; i < n_rows * T; ++i) {
      inputs.push_back(static_cast<std::int32_t>(random() % 50));
      targets.push_back(i % T < i / T % 7 * T / 8 ? ignored_target : static_cast<std::int32_t>(random() % 50));
    }
  }
};

/// Where the second of the two texts of a row begins.
std::int64_t second_text(const Rows& rows, std::int64_t row) { return 1 + row % (rows.T - 1); }

/// A micro-batch of rows, as a loader makes it for a recipe.
class RowsOfRecipe {
 public:
  RowsOfRecipe(const train::RecipeProgram& recipe, std::int64_t count)
      : contents_(train::batch_contents(recipe, recipe.hparams.objective)),
        vocab_size_(recipe.model->vocab_size),
        count_(count) {}

  /// @param sample of the run; its row is another's, too
  train::MicroBatch read(const Rows& rows, std::int64_t sample) {
    const std::int64_t first = sample % n_rows * rows.T, size = count_ * rows.T;
    inputs_.assign(rows.inputs.begin() + first, rows.inputs.begin() + first + size);
    targets_.assign(rows.targets.begin() + first, rows.targets.begin() + first + size);
    if (contents_.target == data::TargetToken::itself)
      for (std::size_t i = 0; i < targets_.size(); ++i)
        if (targets_[i] != ignored_target) targets_[i] = inputs_[i];
    if (contents_.texts_per_sample > 0) make_pairs(rows, sample);
    std::int32_t* const document_starts = document_starts_.empty() ? nullptr : document_starts_.data();
    data::prepare_batch(contents_, sample, count_, rows.T, vocab_size_, {3, random::Purpose::training_samples},
                        {inputs_.data(), targets_.data(), document_starts});
    train::MicroBatch batch{inputs_.data(), targets_.data(), static_cast<std::uint64_t>(sample % n_rows),
                            document_starts};
    if (contents_.sequences_per_sample > 0) add_sequences(batch, rows.T);
    return batch;
  }

 private:
  /// Of each row two texts, without padding.
  void make_pairs(const Rows& rows, std::int64_t sample) {
    targets_.assign(targets_.size(), 0);
    document_starts_.assign(targets_.size(), 0);
    for (std::int64_t row = 0; row < count_; ++row) {
      const std::int64_t second = second_text(rows, (sample + row) % n_rows);
      std::fill(document_starts_.begin() + row * rows.T + second, document_starts_.begin() + (row + 1) * rows.T,
                static_cast<std::int32_t>(second));
    }
  }

  /// Of each row the first half is one sequence, and the rest another.
  void add_sequences(train::MicroBatch& batch, std::int64_t T) {
    document_starts_.clear();
    reference_.clear();
    for (std::int64_t i = 0; i < count_ * T; ++i)
      document_starts_.push_back(static_cast<std::int32_t>(i % T < T / 2 ? 0 : T / 2));
    const std::int64_t K = contents_.sequences_per_sample, first = static_cast<std::int64_t>(batch.first_sample) * K;
    for (std::int64_t i = first; i < first + count_ * K; ++i) reference_.push_back(-0.5 * static_cast<double>(i));
    batch.document_starts = document_starts_.data();
    batch.reference = reference_.data();
  }

  data::BatchContents contents_;
  std::int64_t vocab_size_, count_;
  std::vector<std::int32_t> inputs_, targets_;
  std::vector<std::int32_t> document_starts_;  ///< empty but for pairs of texts and for sequences
  std::vector<double> reference_;              ///< empty but for sequences
};

/// Adds what a rank holds to tensors that are whole once all ranks have added theirs.
/// @return the tensors of which another rank had added the same elements with other bits
std::set<std::string> add_parts(const std::vector<train::StateTensor>& parts, double factor, Tensors& whole) {
  constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  std::set<std::string> different;
  for (const train::StateTensor& part : parts) {
    Values& values = whole[part.name];
    values.resize(part.shape.elements(), absent);
    auto place = values.begin() + part.first;
    for (const double value : values_of(part.view)) {
      const double local = value * factor;
      if (bits(*place) != bits(absent) && bits(*place) != bits(local)) different.insert(part.name);
      *place++ = local;
    }
  }
  return different;
}

/// One rank's part of a training.
class Rank {
 public:
  Rank(const World& world, const train::RecipeProgram& recipe, Division division, const Extent& extent)
      : world_(world),
        accumulation_(division.accumulation),
        micro_batch_(extent.samples_per_step / (division.ranks * division.accumulation)),
        loss_scale_(extent.loss_scale),
        micro_batch_rows_(recipe, micro_batch_),
        communicator_(world.communicator(recipe.optimizer_shards(division.ranks), recipe.reduce_dtype)),
        step_(recipe.make_step(*communicator_, micro_batch_, 3, division.in_tree ? plan::tree_levels(accumulation_) : 0,
                               recipe.hparams.objective)) {
    if (recipe.teacher != nullptr) give_teacher(*step_);
  }

  train::TrainingStep& step() { return *step_; }

  StepOutcome gradients(int number, const Rows& rows) {
    set_loss_scale(*step_, loss_scale_);
    const std::int64_t first = (number - 1) * accumulation_ * world_.size() * micro_batch_;
    for (std::int64_t i = 0; i < accumulation_; ++i) {
      const std::int64_t sample = first + (i * world_.size() + world_.rank()) * micro_batch_;
      step_->accumulate(micro_batch_rows_.read(rows, sample), number, {i, accumulation_});
    }
    return step_->read(step_->decide({}));
  }

 private:
  const World& world_;
  std::int64_t accumulation_, micro_batch_;
  double loss_scale_;
  RowsOfRecipe micro_batch_rows_;
  std::unique_ptr<Communicator> communicator_;
  Owned<train::TrainingStep> step_;
};

}  // namespace

Outcome train(const train::RecipeProgram& recipe, Division division, const Extent& extent) {
  const Rows rows(recipe.model->context_length);
  Outcome outcome;
  for (const int step : extent.gradients_at) outcome.gradients[step];  // ranks must not make them
  std::mutex mutex;
  std::set<std::string> different;
  with_ranks(division.ranks, [&](const World& world) {
    Rank rank(world, recipe, division, extent);
    const auto add_to = [&](Tensors& tensors, const std::vector<train::StateTensor>& parts, double factor = 1) {
      const std::lock_guard lock(mutex);
      different.merge(add_parts(parts, factor, tensors));
    };
    add_to(outcome.initial, train::all_state(rank.step(), false));
    for (int i = 1; i <= extent.steps; ++i) {
      const StepOutcome totals = rank.gradients(i, rows);
      if (world.rank() == 0) {
        outcome.losses.push_back(totals.loss / static_cast<double>(totals.tokens));
        outcome.norms.push_back(totals.gradient_norm);
      }
      if (const auto wanted = outcome.gradients.find(i); wanted != outcome.gradients.end())
        add_to(wanted->second, rank.step().gradients(), 1 / extent.loss_scale);
      update(rank.step(), i, totals.gradient_scale / totals.gradient_norm, recipe.hparams.optimizer);
    }
    add_to(outcome.parameters, train::all_state(rank.step(), false));
    add_to(outcome.moments, rank.step().optimizer_state());
  });
  if (!different.empty())
    throw std::logic_error(
        fmt::format("ranks that hold the same part have other bits of {}", fmt::join(different, ", ")));
  return outcome;
}

bool same_bits(const Outcome& a, const Outcome& b) {
  return a.losses == b.losses && a.norms == b.norms && a.gradients == b.gradients && a.initial == b.initial &&
         a.parameters == b.parameters && a.moments == b.moments;
}

double worst_difference(const std::vector<double>& actual, const std::vector<double>& expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (actual.size() != expected.size()) return infinity;
  double worst = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double difference = std::abs(actual[i] / expected[i] - 1);
    worst = std::max(worst, std::isnan(difference) ? infinity : difference);
  }
  return worst;
}

}  // namespace monomorph::testing
