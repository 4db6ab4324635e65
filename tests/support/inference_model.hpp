#pragma once
#include "support/catch.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <cstddef>
#include <cstring>
#include <vector>

namespace monomorph::testing {

/// Gives a model on one rank the parameters of another one of the same recipe, as a load gives it those of a
/// checkpoint.
inline void copy_parameters(train::InferenceModel& from, train::InferenceModel& to) {
  const auto parameters = from.parameters(), places = to.parameters();
  REQUIRE(parameters.size() == places.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    REQUIRE(parameters[i].name == places[i].name);
    cpu::copy({}, parameters[i].view, places[i].view);
  }
  const auto matrices = from.quantized(), places_of_matrices = to.quantized();
  REQUIRE(matrices.size() == places_of_matrices.size());
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const auto parts = held_parts(matrices[i]), places_of_parts = held_parts(places_of_matrices[i]);
    for (std::size_t k = 0; k < parts.size(); ++k)
      std::memcpy(places_of_parts[k].view.data, parts[k].view.data, static_cast<std::size_t>(parts[k].view.bytes()));
  }
  to.parameters_changed();
}

}  // namespace monomorph::testing
