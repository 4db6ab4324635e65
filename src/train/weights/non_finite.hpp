#pragma once
#include <monomorph/runtime/memory/view.hpp>

#include <cstdint>
#include <map>
#include <string>

namespace monomorph::train {

/// Numbers that are NaN or infinite, by tensor.
using NonFiniteNumbers = std::map<std::string, std::int64_t>;

/// Those of a contiguous view in the host's memory.
std::int64_t non_finite(View view);
/// Adds them to the others of a tensor.
void count_non_finite(const std::string& name, View view, NonFiniteNumbers& numbers);

/// "3 in layers.0.mlp.up.weight, 1 in head.weight": some of them.
std::string counts_text(const NonFiniteNumbers& numbers);
/// A line that names some of them; empty if there are none.
std::string warning_of(const NonFiniteNumbers& numbers, const std::string& where);

}  // namespace monomorph::train
