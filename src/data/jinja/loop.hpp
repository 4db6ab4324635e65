#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <functional>
#include <vector>

namespace monomorph::data::jinja {

/// What `loop` is within a for loop.
struct Loop {
  std::vector<Value> items;
  int depth = 0;          ///< of its items
  std::size_t index = 0;  ///< of the current item
  int level = 0;          ///< of a recursive loop within itself
  std::vector<Value> changed = {};
  std::function<Value(const Value& items)> recurse = {};  ///< of a recursive loop
};

}  // namespace monomorph::data::jinja
