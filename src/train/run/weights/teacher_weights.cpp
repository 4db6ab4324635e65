#include "train/run/weights/teacher_weights.hpp"

#include "core/as_usage_error.hpp"
#include "train/run/weights/open_together.hpp"
#include "train/run/weights/start_weights.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/hash.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/step/host_pieces.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

namespace monomorph::train {
namespace {

/// Facts in which the recipe that trained a teacher may differ from the teacher's recipe here.
constexpr std::array<std::string_view, 3> changed_by_teaching{"mask", "attention", "model.context_length"};

constexpr const char* teacher_option = "teacher.from";
constexpr std::string_view advice_for_teacher = "give weights of the model that the objective's teacher says";

/// Its tensors are as they are, but for learned positions behind those that the student has.
WeightsHparams choices_for_teacher() {
  WeightsHparams choices;
  choices.positions.value = PositionRows::cut;
  return choices;
}

/// @throws UsageError [TEACHER-01]
void check_names_teacher(const RecipeProgram& recipe, const Hparams& hparams) {
  if (!hparams.teacher.from.value.empty()) return;
  throw UsageError("TEACHER-01", fmt::format("the objective of {} learns from a teacher; name a checkpoint or a folder "
                                             "of its weights as teacher.from",
                                             recipe.name));
}

OpenedWeights open_teacher(const RecipeProgram& recipe, const std::string& path) {
  const RecipeProgram teacher = recipe.teacher();
  OpenedWeights opened = open_weights(path, teacher, changed_by_teaching);
  check_tensors(*opened.source, teacher, choices_for_teacher(), advice_for_teacher);
  return opened;
}

void check_has_none(const RecipeProgram& recipe, const Hparams& hparams) {
  if (hparams.teacher.from.value.empty()) return;
  throw UsageError("TEACHER-02", fmt::format("teacher.from must be left out, as the objective of {} has no teacher; "
                                             "remove it, or take a recipe whose objective is Distillation",
                                             recipe.name));
}

/// A permutation of the numbers of 64 bits in which each bit depends on all (the finaliser of MurmurHash3).
constexpr std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ x >> 33) * 0xff51'afd7'ed55'8ccd;
  x = (x ^ x >> 33) * 0xc4ce'b9fe'1a85'ec53;
  return x ^ x >> 33;
}

/// The sum over elements of a hash of each with its place: however ranks divide a tensor, they add up to the same.
/// @param key of the tensor   @param first place of the view's first element
std::uint64_t digest_of(const View& view, std::uint64_t key, std::int64_t first) {
  const std::int64_t width = size_of(view.dtype);
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < view.elements(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, view.data + i * width, static_cast<std::size_t>(width));
    sum += mixed(bits ^ mixed(key + static_cast<std::uint64_t>(first + i)));
  }
  return sum;
}

/// One number for the teacher's weights on all ranks, from 1 to 2^62 - 1, so that it fits the counters of a checkpoint.
std::int64_t digest_of_teacher(TrainingStep& step, Communicator& communicator) {
  std::uint64_t digest = 0;
  if (communicator.rank() < communicator.shards()) {  // others have copies
    HostPieces pieces(step);
    for (const StateTensor& tensor : step.teacher_parameters())
      pieces.read(tensor.view, [&](const HostPieces::Piece& piece) {
        digest += digest_of(piece.view, mixed(fnv1a_64(tensor.name)), tensor.first + piece.first);
      });
  }
  constexpr std::uint64_t low = 0xffff'ffff;  // of numbers that can be added up without overflow
  std::array<std::int64_t, 2> words{static_cast<std::int64_t>(digest & low), static_cast<std::int64_t>(digest >> 32)};
  communicator.all_reduce_sum(words);
  const std::uint64_t sum = static_cast<std::uint64_t>(words[0]) + (static_cast<std::uint64_t>(words[1]) << 32);
  return static_cast<std::int64_t>(std::max<std::uint64_t>(1, sum & ((std::uint64_t{1} << 62) - 1)));
}

}  // namespace

std::vector<std::string> check_teacher(const RecipeProgram& recipe, const Hparams& hparams) {
  if (recipe.teacher == nullptr) {
    check_has_none(recipe, hparams);
    return {};
  }
  check_names_teacher(recipe, hparams);
  return as_usage_error(teacher_option, [&] {
    OpenedWeights opened = open_teacher(recipe, hparams.teacher.from.value);
    opened.source->check_copies();
    return std::move(opened.notes);
  });
}

std::vector<std::string> load_teacher(const RecipeProgram& recipe, const Hparams& hparams, TrainingStep& step,
                                      Communicator& communicator, RunState& state, bool is_resumed) {
  if (recipe.teacher == nullptr) {
    check_has_none(recipe, hparams);
    return {};
  }
  check_names_teacher(recipe, hparams);
  OpenedWeights opened = open_together(teacher_option, hparams.teacher.from.value, communicator,
                                       [&](const std::string& found) { return open_teacher(recipe, found); });
  NonFiniteNumbers numbers;
  together(communicator, "load the teacher", [&] {
    numbers = load_weights(*opened.source, choices_for_teacher(), step.teacher_parameters(), step);
    throw_if_truncated();
  });
  step.teacher_changed();
  const std::int64_t digest = digest_of_teacher(step, communicator);
  std::vector<std::string> lines = std::move(opened.notes);
  lines.push_back("teacher from " + in_quotes(opened.source->where()));
  if (is_resumed && state.teacher == 0)
    lines.emplace_back(
        "warning: [TEACHER-04] the recipe's precision is another one than when the checkpoint was saved, so that its "
        "number of the teacher's weights can't be compared; see that teacher.from names the same");
  else if (is_resumed && state.teacher != digest)
    throw UsageError("TEACHER-03",
                     fmt::format("the run has learnt from a teacher of other weights than those in {}; give those that "
                                 "it began with as teacher.from, or start another run by weights.from, in another "
                                 "run.output_dir",
                                 in_quotes(opened.source->where())));
  state.teacher = digest;
  if (const std::string warning = warning_of(of_all_ranks(std::move(numbers), communicator), opened.source->where());
      !warning.empty())
    lines.push_back(warning);
  return lines;
}

}  // namespace monomorph::train
