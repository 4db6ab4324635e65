#include "checkpoint_part.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace monomorph::runtime {
namespace {

/// Takes apart a text from its front.
class NoteReader {
 public:
  explicit NoteReader(std::string_view text) : rest_(text) {}

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  void require(std::string_view expected) {
    if (!take(expected)) refuse();
  }
  void require_end() const {
    if (!rest_.empty()) refuse();
  }
  std::int64_t number() {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (failure != std::errc() || number < 0) refuse();
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return number;
  }
  std::vector<std::int64_t> numbers(std::string_view separator) {
    std::vector<std::int64_t> numbers;
    do numbers.push_back(number());
    while (take(separator));
    return numbers;
  }

 private:
  [[noreturn]] static void refuse() {
    throw std::invalid_argument(R"(it is not of the form "from 0 of 256x64 at 0,64 of 256x128")");
  }
  std::string_view rest_;
};

struct Note {
  std::int64_t first;
  std::optional<std::vector<std::int64_t>> extents, offsets;  ///< of the region, if that is not the whole tensor
  std::vector<std::int64_t> shape;
};

Note note_from(std::string_view text) {
  NoteReader reader(text);
  Note note;
  reader.require("from ");
  note.first = reader.number();
  reader.require(" of ");
  note.shape = reader.numbers("x");
  if (reader.take(" at ")) {
    note.extents = std::move(note.shape);
    note.offsets = reader.numbers(",");
    reader.require(" of ");
    note.shape = reader.numbers("x");
  }
  reader.require_end();
  return note;
}

Region region_of(const Note& note, const Dims& dims) {
  if (!note.offsets) return Region::whole(dims);
  if (note.offsets->size() != note.shape.size() || note.extents->size() != note.shape.size())
    throw std::invalid_argument("the region has another number of dimensions than the tensor");
  if (note.shape.size() > Dims::capacity)
    throw std::invalid_argument(fmt::format("a tensor of regions has at most {} dimensions", Dims::capacity));
  const Region region{*Dims::from(*note.offsets), *Dims::from(*note.extents)};
  if (!region.fits(dims)) throw std::invalid_argument("the region does not lie within the tensor");
  return region;
}

}  // namespace

std::string note_of(const PartOfTensor& part) {
  const RegionRun& run = part.run;
  const std::string shape = fmt::format("{}", fmt::join(part.shape, "x"));
  if (run.region == Region::whole(dims_of(part.shape))) return fmt::format("from {} of {}", run.first, shape);
  return fmt::format("from {} of {} at {} of {}", run.first, fmt::join(run.region.extents, "x"),
                     fmt::join(run.region.offsets, ","), shape);
}

void check_run(const RegionRun& run, const std::vector<std::int64_t>& shape, const std::string& name) {
  if (element_count(shape) && run.fits(dims_of(shape))) return;
  throw Error(
      "CHECKPOINT-12",
      fmt::format("elements {} to {} of the region [{}] at [{}] do not lie in {} of shape [{}]; this is a defect "
                  "of the program, report it",
                  run.first, run.end(), fmt::join(run.region.extents, ", "), fmt::join(run.region.offsets, ", "),
                  in_quotes(name), fmt::join(shape, ", ")));
}

PartOfTensor part_from(const std::vector<std::int64_t>& shape, const std::string* note) {
  if (note == nullptr) return {shape, RegionRun::whole(dims_of(shape))};
  const Note said = note_from(*note);
  if (!element_count(said.shape)) throw std::invalid_argument("the tensor has more elements than can be counted");
  if (shape.size() != 1) throw std::invalid_argument("a part must be a tensor of one dimension");
  const Dims dims = dims_of(said.shape);
  const RegionRun run{region_of(said, dims), said.first, shape.front()};
  if (!run.fits(dims)) throw std::invalid_argument("the part goes beyond what it is said to be a part of");
  return {said.shape, run};
}

}  // namespace monomorph::runtime
