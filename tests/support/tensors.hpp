#pragma once
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace monomorph::testing {

using Values = std::vector<double>;
/// Canonical tensors by name, row by row.
using Tensors = std::map<std::string, Values>;

Values values_of(View view);
void assign(View view, const Values& values);  ///< rounded to the view's dtype, to nearest even
Tensors values_of(const std::vector<train::StateTensor>& tensors);
/// Every one of `tensors` gets the values of its name.
void assign(const std::vector<train::StateTensor>& tensors, const Tensors& values);

/// Of all bytes, in order.
std::uint64_t hash_of(const std::vector<train::StateTensor>& tensors);

/// Tensors of a step, with views that the host can read.
/// @param buffers gets what they are views of, where the device has a memory of its own
std::vector<train::StateTensor> downloaded(std::vector<train::StateTensor> tensors, const train::TrainingStep& step,
                                           std::vector<HostBuffer>& buffers);

/// Norm of the difference over the norm of what is expected; infinite if sizes differ or anything is not finite.
double relative_error(const Values& actual, const Values& expected);
double cosine(const Values& a, const Values& b);

/// With the biases of queries, keys and values joined, and those of their norms: softmax does not see a shift of all
/// its scores, so the gradient of a key's bias alone may be zero but for rounding, and has no relative error.
Tensors joined_biases(const Tensors& tensors);

struct Difference {
  std::string name;
  double error = 0;
};
/// The tensor with the greatest relative error, biases joined. A name that only one side has is an infinite error.
Difference worst_difference(const Tensors& actual, const Tensors& expected);

}  // namespace monomorph::testing
