#pragma once
#include <monomorph/core/mistakes.hpp>
#include <monomorph/core/objective_metric.hpp>
#include <monomorph/data/formats/last_target.hpp>
#include <monomorph/data/loading/weight_by.hpp>
#include <monomorph/schedule/warmup_decay_hparams.hpp>
#include <monomorph/train/hparams/recipe_hparams.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

inline constexpr std::int64_t most_steps = 1'000'000'000;
using OptionalCount = std::optional<std::int64_t>;

struct RunHparams {
  Field<std::int64_t> steps{1000, 1, most_steps, "optimiser steps of the whole run, those before a resume included"};
  Field<std::int64_t> seed{0, 0, 9'007'199'254'740'991, "seed of initialisation, data order, dropout and sampling"};
  Field<std::string> output_dir{"runs/default", "run folder: hyperparameters, metrics, event files, checkpoints"};
  Field<bool> record_steps{true,
                           "on GPUs, give a step to the GPU as a whole, as a CUDA graph, where the GPU has recorded "
                           "one like it: the same bits with less work for the host; false: each kernel by itself"};
  Field<std::int64_t> wait_for_folder{0, 0, 1'000'000'000,
                                      "seconds that a start waits for another run that has its folders to end, as a "
                                      "requeued job may; 0: it ends at once"};
};

struct DataHparams {
  Field<WeightedPaths> train{
      {}, "packed training data (.pbin): one file, or several, each with a weight (1 unless given) above 0"};
  Field<data::WeightBy> weight_by{data::WeightBy::sample,
                                  "what the weights of several files are in proportion to: how many samples are drawn "
                                  "from a file, or how often each of its tokens is"};
  Field<NamedPaths> evaluation{
      {}, "packed held-out data (.pbin): one set, or several, each with a name; empty: no evaluation"};
  Field<std::string> tokenizer{"", "tokeniser (.json) of the data; needed for bits per byte and samples of text"};
  Field<bool> shuffle{true, "visit the samples in an order drawn anew in each epoch; false: in the order of the file"};
  Field<data::LastTarget> last_target{data::LastTarget::reused,
                                      "whether the last target of a sample is also the first input of the next one, "
                                      "or every token belongs to one sample alone"};
  Field<OptionalCount> max_epochs{std::nullopt, "unlimited", 1, 1'000'000'000,
                                  "how often a file may be gone through; a run that needs more of one is refused"};
};

enum class ReductionOrder { any_order, fixed_tree };

struct BatchHparams {
  Field<std::int64_t> global_batch{8, 1, 1'000'000'000, "sequences per optimiser step, over all ranks"};
  Field<OptionalCount> micro_batch{
      std::nullopt, "auto", 1, 1'000'000,
      "sequences that one rank computes at a time; auto: the most that divide its share of the global batch and fit "
      "its "
      "memory, on processors 8 at most; a resumed run has those of its checkpoint, and one with batch.reduction = "
      "fixed_tree, whose bits they decide, always 8"};
  Field<ReductionOrder> reduction{
      ReductionOrder::any_order,
      "how the micro-batches' gradients are added up: any_order, the fastest; fixed_tree: in an "
      "order that does not depend on the number of ranks, so that any power of two of them gives "
      "the same bits"};
};

enum class ClipMode { none, norm_1, norm_2, norm_inf, value, log_only };

struct ClipHparams {
  Field<ClipMode> mode{ClipMode::norm_2,
                       "what is limited: that norm of all gradients together (scaled down), or each value (cut off); "
                       "log_only: nothing, the 2-norm is reported; none: neither"};
  Field<double> threshold{1.0, 1e-12, 1e12, "largest norm or absolute value that passes unchanged"};
};

/// What the recipe's optimiser brings, and what is the same for all.
struct OptimizerHparams {
  PolicyHparams policy = RecipeHparams().optimizer;
  ClipHparams clip;
};

/// What the recipe's observer brings, if it has one with hyperparameters.
struct ObserverHparams {
  PolicyHparams policy = RecipeHparams().observer;
};

struct EvaluationHparams {
  Field<OptionalCount> every{std::nullopt, "never", 1, most_steps, "steps between evaluations"};
  Field<OptionalCount> batches{std::nullopt, "all", 1, most_steps, "global batches per evaluation"};
  Field<bool> at_end{true, "evaluate after the last step, if data.evaluation is given"};
};

/// Whether checkpoints are written behind the steps.
enum class AsyncSave { automatic, on, off };
/// What becomes of a run whose checkpoint can't be saved.
enum class OnFailedSave { error, go_on };

struct CheckpointHparams {
  Field<OptionalCount> every{std::nullopt, "never", 1, most_steps,
                             "steps between checkpoints; one is always written after the last step"};
  Field<OptionalCount> every_seconds{1800, "never", 1, most_steps,
                                     "seconds, by the clock of rank 0, after which a checkpoint is written if none has "
                                     "been for as long"};
  Field<OptionalCount> keep{2, "all", 1, 1'000'000, "checkpoints kept, the latest ones"};
  Field<OptionalCount> keep_every{std::nullopt, "never", 1, most_steps,
                                  "steps between checkpoints that are written and never deleted"};
  Field<bool> keep_best{false,
                        "write a checkpoint after every evaluation that is the best so far, and keep the best one"};
  Field<std::string> best_metric{"loss",
                                 "what evaluations report by which checkpoint.keep_best chooses: loss, perplexity, "
                                 "bits_per_byte, or a metric of the recipe's objective"};
  Field<BestValue> best_is{BestValue::unsaid,
                           "whether its lowest or its highest value is the best; auto: as the metric "
                           "itself says"};
  Field<std::string> best_by{"", "name of the set of data.evaluation that is meant, if there are several"};
  Field<AsyncSave> async_save{AsyncSave::automatic,
                              "whether checkpoints are written while the steps go on, which wait only until the state "
                              "is copied; auto: on if there is memory for the copy"};
  Field<OnFailedSave> on_failure{OnFailedSave::error,
                                 "what becomes of a run whose checkpoint can't be saved: error: it ends; continue: it "
                                 "says so and goes on, but must save the last one"};
  Field<std::string> directory{"checkpoints", "folder of the checkpoints; a relative one lies in run.output_dir"};
  Field<std::string> resume{"none",
                            "none: start afresh, in a folder that holds no run; auto: go on from the latest of "
                            "checkpoint.directory, or start from the beginning while it has none; otherwise a "
                            "checkpoint's folder"};
};

/// What becomes of the table's and the head's rows where the vocabulary has another size than that of the weights.
enum class VocabularyRows { must_match, initialized, mean, zero };
/// The same of learned positions and the context.
enum class PositionRows { must_match, cut, interpolated };

struct WeightsHparams {
  Field<std::string> from{"",
                          "weights that a new run starts from: a checkpoint, or a folder of a Hugging Face model; "
                          "empty: they are initialised. A run that is resumed has its own"};
  Field<VocabularyRows> vocabulary{
      VocabularyRows::must_match,
      "a vocabulary of another size than that of the weights: must_match: refused; otherwise rows are cut off, or new "
      "ones are what initialisation makes them (initialized), the mean of the others (mean) or zeros (zero)"};
  Field<PositionRows> positions{
      PositionRows::must_match,
      "learned positions of another context length: must_match: refused; cut: the first of more; interpolated: linear "
      "between neighbours"};
};

struct TeacherHparams {
  Field<std::string> from{"",
                          "weights of the model that an objective such as Distillation learns from: a checkpoint, or a "
                          "folder of a Hugging Face model"};
};

struct LogHparams {
  Field<std::int64_t> every{10, 1, most_steps, "steps between lines of the log"};
  Field<bool> tensorboard{true, "write TensorBoard event files beside metrics.jsonl"};
};

struct FailureHparams {
  Field<std::int64_t> max_skipped_in_a_row{10, 0, 1'000'000,
                                           "steps skipped in a row for non-finite gradients; one more stops the run"};
  Field<std::int64_t> rank_timeout{300, 1, 1'000'000,
                                   "seconds that a rank waits for the others, at the start and in every collective"};
  Field<std::int64_t> exit_code_when_interrupted{
      0, 0, 255,
      "of a run that a signal ended before run.steps, after it has saved; for launchers that start it again"};
};

/// What becomes of a step whose loss or gradient norm is far above what is usual.
enum class SpikeAction { none, skip, rewind };

struct SpikeHparams {
  Field<SpikeAction> action{SpikeAction::none,
                            "what is done about a spike: none: nothing; skip: the step changes nothing; rewind: the "
                            "run goes back to its last checkpoint, and on with the data behind the spike"};
  Field<double> sigmas{6, 0.1, 1e6,
                       "standard deviations above the mean of the last steps, from which a loss or a gradient norm is "
                       "a spike"};
  Field<std::int64_t> window{128, 2, 1'000'000,
                             "steps that mean and deviation look back over, with weights that fall exponentially; "
                             "nothing is a spike before half as many"};
  Field<std::int64_t> most_rewinds{3, 0, 1'000'000, "how often a run goes back; one spike more ends it"};
};

enum class OnEmptyBatch { error, skip };

/// What the recipe's objective brings, and what is the same for all.
struct LossHparams {
  Field<OnEmptyBatch> on_empty_batch{OnEmptyBatch::error, "what to do with a global batch that has no counted token"};
  PolicyHparams policy = RecipeHparams().objective;
};

struct LossScaleHparams {
  Field<double> initial{1024, 1, 1e12, "first scale of the loss, rounded down to a power of two; for fp16 compute"};
  Field<double> minimum{1, 1e-12, 1e12, "lowest scale: steps skipped there count as failures"};
  Field<std::int64_t> growth_steps{2000, 1, most_steps, "steps without a skipped one after which the scale is doubled"};
};

/// Everything about a run that is not the recipe: what a hyperparameter file may say. Read it with read_hparams. Values
/// are of the default policies unless those of a recipe's are put in their place: see default_hparams().
struct Hparams {
  RunHparams run;
  DataHparams data;
  BatchHparams batch;
  OptimizerHparams optimizer;
  ScheduleHparams schedule = RecipeHparams().schedule;
  EvaluationHparams evaluation;
  CheckpointHparams checkpoint;
  WeightsHparams weights;
  TeacherHparams teacher;
  LogHparams log;
  FailureHparams failure;
  SpikeHparams spikes;
  LossHparams loss;
  LossScaleHparams loss_scale;
  ObserverHparams observer;
};

/// The defaults of a recipe.
Hparams default_hparams(const RecipeHparams& recipe);

/// The defaults, those of a recipe or of the default policies, overwritten by a JSON file, then by `--set` arguments
/// (`optimizer.lr=3e-4`), in that order.
/// @throws UsageError [HPARAM-01] to [HPARAM-07]: a line for each mistake, with file, line and field; [FILE-01] and
/// following
Hparams read_hparams(const std::string& file, const std::vector<std::string>& sets, const Hparams& defaults = {});

/// The same, with all mistakes.   @throws UsageError if the file can't be read: [FILE-01] and following
Hparams read_hparams(const std::string& file, const std::vector<std::string>& sets, Mistakes& mistakes,
                     const Hparams& defaults = {});

/// The same from text, as a checkpoint holds it; `where` stands for the file in messages.
Hparams parse_hparams(const std::string& json, const std::string& where, const Hparams& defaults = {});

/// Overwrites single values as `--set` does.
void set_hparams(Hparams& hparams, const std::vector<std::string>& sets);

/// Complete, defaults included; parse_hparams gives the same values back, bit for bit.
std::string to_json(const Hparams& hparams);

/// JSON Schema (draft 2020-12) of the hyperparameter file.
std::string schema(const Hparams& defaults = {});

/// The Markdown table of docs/reference/hyperparameters.md.
std::string hparams_table();

/// Whether a set of data.evaluation may have this name: letters, digits, dots, hyphens and underscores.
bool is_set_name(std::string_view name);
inline constexpr std::size_t longest_set_name = 64;

/// What stands for "auto" at most where larger micro-batches gain nothing, and exactly in a fixed tree.
inline constexpr std::int64_t usual_micro_batch = 8;

/// The largest micro-batch that is at most `most` and divides a rank's share of the global batch; absent if the ranks
/// can't share it.   @param ranks data-parallel ranks
std::optional<std::int64_t> largest_micro_batch(std::int64_t global_batch, std::int64_t ranks, std::int64_t most);

/// Puts a number in the place of "auto" without asking for memory: what a run on processors has where there is enough.
/// @param ranks data-parallel ranks
void choose_micro_batch(Hparams& hparams, std::int64_t ranks);

/// batch.micro_batch, which must have been chosen by now if it was left open.
std::int64_t micro_batch_of(const Hparams& hparams);

/// Checks what must be true of the fields together, or of one beside its type and bounds.
/// @param ranks data-parallel ranks
/// @param mistakes receives [HPARAM-10] to [HPARAM-22], but none about a field that is doubted
void validate(const Hparams& hparams, std::int64_t ranks, Mistakes& mistakes);
/// @throws UsageError of a line for each of them
void validate(const Hparams& hparams, std::int64_t ranks);

/// What Mistakes may doubt beside the fields: how many ranks there are.
inline constexpr std::string_view ranks_field = "--ranks";

}  // namespace monomorph::train

template <> struct monomorph::EnumNames<monomorph::train::ClipMode> {
  static constexpr std::string_view names[] = {"none", "norm_1", "norm_2", "norm_inf", "value", "log_only"};
};
template <> struct monomorph::EnumNames<monomorph::train::AsyncSave> {
  static constexpr std::string_view names[] = {"auto", "on", "off"};
};
template <> struct monomorph::EnumNames<monomorph::BestValue> {
  static constexpr std::string_view names[] = {"auto", "lowest", "highest"};
};
template <> struct monomorph::EnumNames<monomorph::train::OnFailedSave> {
  static constexpr std::string_view names[] = {"error", "continue"};
};
template <> struct monomorph::EnumNames<monomorph::train::VocabularyRows> {
  static constexpr std::string_view names[] = {"must_match", "initialized", "mean", "zero"};
};
template <> struct monomorph::EnumNames<monomorph::train::PositionRows> {
  static constexpr std::string_view names[] = {"must_match", "cut", "interpolated"};
};
template <> struct monomorph::EnumNames<monomorph::data::WeightBy> {
  static constexpr std::string_view names[] = {"sample", "token"};
};
template <> struct monomorph::EnumNames<monomorph::data::LastTarget> {
  static constexpr std::string_view names[] = {"reused", "separate"};
};
template <> struct monomorph::EnumNames<monomorph::train::ReductionOrder> {
  static constexpr std::string_view names[] = {"any_order", "fixed_tree"};
};
template <> struct monomorph::EnumNames<monomorph::train::SpikeAction> {
  static constexpr std::string_view names[] = {"none", "skip", "rewind"};
};
template <> struct monomorph::EnumNames<monomorph::train::OnEmptyBatch> {
  static constexpr std::string_view names[] = {"error", "skip"};
};

BOOST_HANA_ADAPT_STRUCT(monomorph::train::RunHparams, steps, seed, output_dir, record_steps, wait_for_folder);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::DataHparams, train, weight_by, evaluation, tokenizer, shuffle, last_target,
                        max_epochs);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::BatchHparams, global_batch, micro_batch, reduction);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::ClipHparams, mode, threshold);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::OptimizerHparams, policy, clip);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::ScheduleHparams, policy);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::EvaluationHparams, every, batches, at_end);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::CheckpointHparams, every, every_seconds, keep, keep_every, keep_best,
                        best_metric, best_is, best_by, async_save, on_failure, directory, resume);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::WeightsHparams, from, vocabulary, positions);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::TeacherHparams, from);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::LogHparams, every, tensorboard);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::FailureHparams, max_skipped_in_a_row, rank_timeout,
                        exit_code_when_interrupted);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::SpikeHparams, action, sigmas, window, most_rewinds);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::LossHparams, on_empty_batch, policy);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::LossScaleHparams, initial, minimum, growth_steps);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::ObserverHparams, policy);
BOOST_HANA_ADAPT_STRUCT(monomorph::train::Hparams, run, data, batch, optimizer, schedule, evaluation, checkpoint,
                        weights, teacher, log, failure, spikes, loss, loss_scale, observer);
