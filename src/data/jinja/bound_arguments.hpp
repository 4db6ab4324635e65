#pragma once
#include "data/jinja/failure.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data::jinja {

/// Arguments by the places of a function's parameters.
class BoundArguments {
 public:
  /// @param function its name, for messages   @throws Failure there are more than parameters, unknown names, or fewer
  /// than are required
  BoundArguments(std::string_view function, const Arguments& arguments, std::initializer_list<std::string_view> names,
                 std::size_t n_required = 0);

  /// Absent: not given.
  const Value* at(std::size_t place) const { return values_[place]; }
  const Value& value(std::size_t place) const { return *values_[place]; }
  bool flag(std::size_t place, bool fallback) const;
  std::int64_t integer(std::size_t place, std::int64_t fallback) const;
  /// @throws Failure what is given is no text
  const std::string& text(std::size_t place) const;
  std::string text(std::size_t place, std::string_view fallback) const;
  /// Nothing: not given, or None.
  const Value* some(std::size_t place) const;

 private:
  std::string_view function_;
  std::vector<const Value*> values_;
};

}  // namespace monomorph::data::jinja
