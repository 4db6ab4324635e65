#include "data/jinja/filters.hpp"

#include <algorithm>

namespace monomorph::data::jinja {

FilterFunction find_filter(std::string_view name) {
  for (const auto filters : {text_filters(), list_filters(), value_filters()}) {
    const auto found = std::ranges::find(filters, name, &NamedFilter::name);
    if (found != filters.end()) return found->function;
  }
  return nullptr;
}

}  // namespace monomorph::data::jinja
