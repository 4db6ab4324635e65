#include "train/weights/written_numbers.hpp"

#include "train/weights/stream_elements.hpp"

#include <fmt/format.h>

namespace monomorph::train {

void WrittenNumbers::count(const std::string& name, View written, const std::function<void(View)>& read) {
  const std::int64_t n = non_finite(written);
  if (n == 0) return;
  std::vector<std::byte> bytes;
  const View numbers = sized(bytes, DType::fp64, written.shape);
  read(numbers);
  const std::int64_t before = non_finite(numbers);
  if (before > 0) of_weights_[name] += before;
  if (n > before) beyond_dtype_[name] += n - before;
}

std::vector<std::string> WrittenNumbers::warnings(const std::string& where) const {
  std::vector<std::string> lines;
  if (std::string line = warning_of(of_weights_, where); !line.empty()) lines.push_back(std::move(line));
  if (!beyond_dtype_.empty())
    lines.push_back(
        fmt::format("warning: [WEIGHTS-11] weights in {} are beyond the numbers of the dtype that is "
                    "written, and are infinite there: {}; export with a wider --dtype",
                    where, counts_text(beyond_dtype_)));
  return lines;
}

}  // namespace monomorph::train
