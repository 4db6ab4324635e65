#pragma once
#include <monomorph/recipe/members.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::train {

/// The angles of rotary positions over a recipe's context; not present where the model has other positions.
struct RotaryTables {
  View cos_TH, sin_TH;

  template <class R> static RotaryTables of(typename device_of<R>::Queue queue, Arena& arena) {
    RotaryTables tables;
    if constexpr (rotates<R>) {
      for (View* const table : {&tables.cos_TH, &tables.sin_TH})
        *table = arena.take(align_up(shape<R>.elements()), dtype<R>)[Slice{0, shape<R>}];
      rotary_table(queue, trunk_of<R>.rotary, tables.cos_TH, tables.sin_TH);
    }
    return tables;
  }
  template <class R> static constexpr std::int64_t bytes() {
    return rotates<R> ? 2 * align_up(shape<R>.elements()) * size_of(dtype<R>) : 0;
  }

 private:
  template <class R> static constexpr bool rotates = trunk_of<R>.position == Position::rotary;
  template <class R> static constexpr Shape shape{trunk_of<R>.context_length, trunk_of<R>.head_width() / 2};
  template <class R> static constexpr DType dtype = statistics_dtype(R::precision::compute_dtype);
};

}  // namespace monomorph::train
