// What the files of a checkpoint say that they hold of a tensor: an accepted note reads back as written, and parts that
// make a tensor are told from those that do not as by counting. A line is a number of elements, a space and a note.
#include <charconv>
#include <stdexcept>

#include "../support/counted_tiling.hpp"
#include "harness.hpp"
#include "runtime/files/checkpoint_part.hpp"
#include "runtime/files/region_tiling.hpp"

using namespace monomorph;
using namespace monomorph::runtime;

namespace {

/// Absent if it is refused.
std::optional<PartOfTensor> part_of(const std::string& line) {
  std::int64_t n = 0;
  const std::size_t space = std::min(line.find(' '), line.size());
  std::from_chars(line.data(), line.data() + space, n);
  const std::string note = line.substr(std::min(space + 1, line.size()));
  try {
    const PartOfTensor part = part_from({n}, &note);
    const std::string written = note_of(part);
    const PartOfTensor again = part_from({n}, &written);
    fuzz::require(again.shape == part.shape && again.run == part.run, "a note reads back as written");
    fuzz::require(part.run.fits(dims_of(part.shape)), "a part lies in its tensor");
    return part;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(fuzz::as_text(data, size))};
  std::vector<std::int64_t> shape;
  std::vector<RegionRun> runs;
  for (std::string line; runs.size() < 100 && std::getline(lines, line);)
    if (const auto part = part_of(line); part && (runs.empty() || part->shape == shape)) {
      shape = part->shape;
      runs.push_back(part->run);
    }
  if (runs.empty()) return 0;
  const Dims dims = dims_of(shape);
  const auto first = first_not_held_once(dims, runs);
  constexpr std::int64_t most_to_count = 4096;
  fuzz::require(*element_count(dims) > most_to_count || first == testing::first_not_counted_once(dims, runs),
                "a tiling is what counting finds one");
  return 0;
}
