#pragma once
#include "simulator/covering_rank.hpp"
#include "simulator/gpu_covering_set.hpp"
#include "simulator/gpu_recipes.hpp"

#include <utility>

/// What a translation unit instantiates for its part of the covering set.
namespace monomorph::testing {

template <Recipe R> void train_covered(const World& world, const Task& task) {
  RankOfTraining<R>(world, task).train(task.n_steps);
}
template <GpuRow row> void train_row(std::string_view device, const World& world, const Task& task) {
  using R = GpuRecipe<row>;
  device == "cpu" ? train_covered<R>(world, task) : train_covered<OnGpu<R>>(world, task);
}

template <int part> std::vector<CoveredTraining> trainings_of_part() {
  constexpr int n = std::size(gpu_covering_set), first = n * part / n_covered_parts,
                end = n * (part + 1) / n_covered_parts;
  return []<int... i>(std::integer_sequence<int, i...>) {
    return std::vector<CoveredTraining>{train_row<gpu_covering_set[first + i]>...};
  }
  (std::make_integer_sequence<int, end - first>());
}

}  // namespace monomorph::testing
