#include <monomorph/train/describe/block_features.hpp>

#include <fmt/format.h>

namespace monomorph::train {

void BlockFeatures::add_size(std::string_view name, std::int64_t size, std::int64_t of_model) {
  if (size != of_model) add(name, " ", size);
}
void BlockFeatures::append(std::string_view text) { phrases_.back() += text; }
void BlockFeatures::append(std::int64_t number) { phrases_.back() += fmt::format("{}", number); }
void BlockFeatures::append(double number) { phrases_.back() += fmt::format("{}", number); }

}  // namespace monomorph::train
