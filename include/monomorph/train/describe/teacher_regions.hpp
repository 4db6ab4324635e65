#pragma once
#include <array>
#include <monomorph/plan/teacher.hpp>
#include <monomorph/train/describe/memory_regions.hpp>
#include <vector>

/// Where in the arenas of a teacher everything lies, and when in a step of its student it is in use: it goes forward at
/// the beginning of the first phase, and what the loss compares stays until the last layer.
namespace monomorph::train {

struct PlacedTeacher {
  StepPhases phases;  ///< of the student
  int n_layers = 0;
  DType compute_dtype{};
  bool params_on_host = false;
  PlacedUnits params;
  Layout arrivals, activations, statistics;
  std::array<Slice, 2> outputs{};  ///< which layers take in turn
  Slice compared, temporary;
  std::int64_t rotary_table = 0;  ///< elements of cosines, or of sines
  int rotary_tables = 0;          ///< of both
};

/// The buffers of a teacher in the order in which train/step/teacher.hpp cuts them from its arenas, and what lies in
/// each.
std::vector<MemoryRegion> teacher_regions(const PlacedTeacher& placed);

/// @tparam R the student's recipe   @param dp, micro_batch: as of plan::memory(), whose levels of a tree are not its
/// own
template <class R> std::vector<MemoryRegion> teacher_regions(int dp, std::int64_t micro_batch, int) {
  using Teacher = plan::TeacherOf<R>;
  const plan::Shards<Teacher> shards(dp);
  const plan::ForwardActivations<Teacher> activations(micro_batch);
  return teacher_regions(
      PlacedTeacher{.phases = {plan::n_layers<R>},
                    .n_layers = plan::n_layers<Teacher>,
                    .compute_dtype = Teacher::precision::compute_dtype,
                    .params_on_host = plan::Shards<Teacher>::on_host,
                    .params = {shards.params.whole, shards.params.apart, shards.params.wholes, shards.params.shards},
                    .arrivals = shards.arrivals,
                    .activations = activations.buffer,
                    .statistics = activations.statistics,
                    .outputs = activations.y_MD,
                    .compared = activations.last().normed_BD,
                    .temporary = {activations.temporary.offset,
                                  {1, activations.buffer.elements - activations.temporary.offset}},
                    .rotary_table = align_up(plan::rotary_shape<Teacher>.elements()),
                    .rotary_tables = plan::n_rotaries<Teacher>});
}

}  // namespace monomorph::train
