#include "train/inference/share_numbers.hpp"

#include <bit>
#include <cstdint>
#include <vector>

namespace monomorph::train {

void share_numbers(Communicator& communicator, std::span<double> numbers) {
  std::vector<std::int64_t> words;
  words.reserve(numbers.size());
  for (const double number : numbers) words.push_back(std::bit_cast<std::int64_t>(number));
  communicator.all_reduce_sum(words);
  auto word = words.begin();
  for (double& number : numbers) number = std::bit_cast<double>(*word++);
}

}  // namespace monomorph::train
