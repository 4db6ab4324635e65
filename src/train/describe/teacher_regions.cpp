#include <monomorph/train/describe/teacher_regions.hpp>

#include "train/describe/arena_cuts.hpp"

#include <algorithm>
#include <map>

namespace monomorph::train {
namespace {

using enum MemorySpace;

class TeacherRegions : ArenaCuts {
 public:
  explicit TeacherRegions(const PlacedTeacher& placed) : placed_(placed) {
    add_parameters();
    add_activations();
    for (int i = 0; i < placed_.rotary_tables; ++i)
      for (const std::string_view table : {"rotary cosines", "rotary sines"})
        cut_whole(device, placed_.rotary_table, statistic_, table, always_);
  }
  using ArenaCuts::take;

 private:
  void add_parameters();
  void add_slots(const Buffer& wholes);
  void add_activations();

  const PlacedTeacher& placed_;
  const int last_layer_ = placed_.n_layers - 1;
  const PhaseInterval always_{0, placed_.phases.update()}, in_pass_{0, 0},
      until_compared_{0, placed_.phases.forward(placed_.phases.layers - 1)};
  const DType statistic_ = statistics_dtype(placed_.compute_dtype);
};

void TeacherRegions::add_parameters() {
  const auto& [whole, apart, wholes_length, shards_length] = placed_.params;
  const Buffer wholes = cut(device, wholes_length.elements, placed_.compute_dtype),
               shards = cut(placed_.params_on_host ? host : device, shards_length.elements, placed_.compute_dtype);
  for (std::size_t u = 0; u < whole.size(); ++u) {
    add(shards, apart[u], "shard of parameters", static_cast<int>(u), always_);
    if (!apart[u].present()) add(wholes, whole[u], "parameters", static_cast<int>(u), always_);
  }
  add_slots(wholes);
  cut_whole(device, placed_.arrivals.elements, placed_.compute_dtype, "parameters that arrive from the host", always_);
}

/// Units that have no place of their own take turns in slots, which are as long as the longest. The last two layers'
/// stay until the loss.
void TeacherRegions::add_slots(const Buffer& wholes) {
  const auto& [whole, apart, wholes_length, shards_length] = placed_.params;
  std::int64_t longest = 0;
  std::map<std::int64_t, bool> stays;  // by the offset of a slot
  for (std::size_t u = 0; u < whole.size(); ++u) {
    if (!apart[u].present()) continue;
    longest = std::max(longest, whole[u].shape.elements());
    stays[whole[u].offset] |= static_cast<int>(u) >= last_layer_ - 1;
  }
  for (const auto& [offset, until_loss] : stays)
    add(wholes, {offset, {1, longest}}, "gathered parameters in turn", -1, until_loss ? until_compared_ : in_pass_);
}

void TeacherRegions::add_activations() {
  const Buffer activations = cut(device, placed_.activations.elements, placed_.compute_dtype);
  for (const Slice& output : placed_.outputs) add(activations, output, "output of layers in turn", -1, in_pass_);
  const Slice &output = placed_.outputs.back(), &compared = placed_.compared;
  const auto add_between = [&](std::int64_t begin, std::int64_t end) {
    add(activations, {begin, {1, end - begin}}, "activations of layers in turn", -1, in_pass_);
  };
  add_between(output.offset + output.shape.elements(), compared.offset);
  add(activations, compared, "activations that the loss compares", -1, until_compared_);
  add_between(compared.offset + compared.shape.elements(), placed_.temporary.offset);
  add(activations, placed_.temporary, "temporary of layers", -1, in_pass_);
  cut_whole(device, placed_.statistics.elements, statistic_, "statistics of layers in turn", in_pass_);
}

}  // namespace

std::vector<MemoryRegion> teacher_regions(const PlacedTeacher& placed) { return TeacherRegions(placed).take(); }

}  // namespace monomorph::train
