#pragma once
#include <monomorph/core/hash.hpp>
#include <monomorph/objective/distillation.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/train/step/training_step.hpp>

#include "support/tensors.hpp"

/// Teachers of tests, whose weights come from no file.
namespace monomorph::testing {

/// Gives a step whose objective has a teacher one: each element follows from its tensor's name and from its place, so
/// that all ranks have the same teacher. Weights of norms are about one, and matrices small.
inline void give_teacher(train::TrainingStep& step) {
  step.take_teacher();
  for (const train::StateTensor& tensor : step.teacher_parameters()) {
    HostBuffer buffer;
    const View on_host = step.download(tensor.view, buffer);
    Values values = values_of(on_host);
    const bool is_norm = tensor.name.find("norm") != std::string::npos && tensor.name.ends_with("weight");
    const auto site = static_cast<std::uint32_t>(fnv1a_64(tensor.name));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = (is_norm ? 1 : 0) + 0.8 * (random::uniform({5, random::Purpose::sampling, 0, site},
                                                             static_cast<std::uint64_t>(tensor.first) + i) -
                                             0.5);
    assign(on_host, values);
    step.upload(on_host, tensor.view);
  }
  step.teacher_changed();
}

/// R with a table of as many rows as gpt2_like has.
template <class R> struct Padded : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.vocab_multiple = 64;
    return model;
  }();
};
/// R, whose student learns from a model of the sizes of `Teacher`.
template <class R, class Teacher> struct TaughtBy : R { using objective = objective::Distillation<Teacher>; };

}  // namespace monomorph::testing
