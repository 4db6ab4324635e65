#pragma once
#include <monomorph/plan/rotary.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::train {

/// Angles of rotary positions over a recipe's context; not present where the model has other positions.
struct RotaryTable {
  View cos_TH, sin_TH;
};

/// Those of a recipe's layers.
template <class R> class RotaryTables {
  static constexpr int n = plan::n_rotaries<R>;
  static constexpr DType dtype = statistics_dtype(R::precision::compute_dtype);

 public:
  static constexpr std::int64_t bytes = plan::rotary_elements<R> * size_of(dtype);

  RotaryTables() = default;
  RotaryTables(typename device_of<R>::Queue queue, Arena& arena) {
    constexpr Shape shape = plan::rotary_shape<R>;
    for (int i = 0; i < n; ++i) {
      auto& [cos_TH, sin_TH] = tables_[i];
      for (View* const table : {&cos_TH, &sin_TH})
        *table = arena.take(align_up(shape.elements()), dtype)[Slice{0, shape}];
      rotary_table(queue, plan::rotary_spec<R>(i), cos_TH, sin_TH);
    }
  }
  const RotaryTable& of_layer(int layer) const { return tables_[plan::rotary_of_layer<R>(layer)]; }

 private:
  RotaryTable tables_[n > 1 ? n : 1];
};

}  // namespace monomorph::train
