#pragma once
#include "simulator/covering_set.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>

namespace monomorph::testing::covering {

/// Makes Check<number>::run() a test case for each recipe of the set, named by the recipe behind a prefix.
/// @return true, so that a static object can call it
template <template <std::size_t> class Check> bool add_cases(const std::string& prefix = "") {
  [&]<std::size_t... numbers>(std::index_sequence<numbers...>) {
    const auto add = [&](auto run, std::string_view name) { REGISTER_TEST_CASE(run, prefix + std::string(name)); };
    (add(&Check<numbers>::run, std::get<numbers>(set).name), ...);
  }
  (std::make_index_sequence<std::tuple_size_v<decltype(set)>>());
  return true;
}

}  // namespace monomorph::testing::covering
