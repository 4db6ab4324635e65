// Loads from a folder of Hugging Face's what one rank of many holds of Llama 3 70B, and prints what that is as JSON:
// weights_one_rank <folder> <ranks> <rank>. A rank reads its weights by itself, so that the others need not be there.
#include "bench/weights/llama3_70b.hpp"
#include "train/weights/load_weights.hpp"

#include <monomorph/core/report_failure.hpp>
#include <monomorph/train/commands/run_recipe.hpp>
#include <monomorph/train/step/unit_state.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <exception>

using namespace monomorph;
using R = OnDefault<bench::llama3_70b, device::Cpu>;

namespace {

/// As a teacher's recipe, of which the model is known without a step.
struct ModelOfR : R {
  using Source = bench::llama3_70b;
};

/// The shards of the master parameters that a rank of FullShard has, as a step lays them out.
class RankParameters : public train::HostAccess {
 public:
  RankParameters(int ranks, int rank) : arena_(bytes(ranks), allocator(queue_)) {
    const plan::Shards<R> shards(ranks);
    for (int u = 0; u < plan::n_units<R>; ++u) {
      train::UnitState& unit = units_.emplace_back();
      unit.master = arena_.take(shards.part[static_cast<std::size_t>(u)], R::precision::master_dtype);
      std::memset(unit.master.data, 0xFF, static_cast<std::size_t>(unit.master.bytes()));  // NaN, until it is loaded
      train::describe(plan::unit_layout<R>(u), u, plan::is_block<R>(u) ? plan::block_of_layer<R>(u) : -1, nullptr,
                      rank * unit.master.elements(), unit);
    }
  }
  static std::int64_t bytes(int ranks) { return plan::memory<R>(ranks, 1).master; }

  View download(View view, HostBuffer& buffer) const override { return copy_to_host(queue_, view, buffer); }
  View place_for_upload(View view, HostBuffer& buffer) const override { return place_on_host(queue_, view, buffer); }
  void upload(View place, View view) override { copy_from_host(queue_, place, view); }
  std::vector<train::StateTensor> tensors() const { return train::state_tensors(units_, &train::UnitState::master); }

 private:
  cpu::Queue queue_{};
  Arena arena_;
  std::vector<train::UnitState> units_;
};

int load(const char* folder, int ranks, int rank) {
  RankParameters parameters(ranks, rank);
  const auto weights = train::open_weights(folder, detail::model_of<ModelOfR>(), {});
  const auto tensors = parameters.tensors();
  train::load_weights(*weights.source, {}, tensors, parameters);
  std::int64_t elements = 0;
  train::NonFiniteNumbers not_loaded;
  for (const train::StateTensor& tensor : tensors) {
    elements += tensor.view.elements();
    train::count_non_finite(tensor.name, tensor.view, not_loaded);
  }
  fmt::print("{{\"planned_bytes\": {}, \"elements\": {}, \"tensors\": {}, \"tensors_not_loaded\": {}}}\n",
             RankParameters::bytes(ranks), elements, tensors.size(), not_loaded.size());
  return not_loaded.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    fmt::print(stderr, "usage: weights_one_rank <folder> <ranks> <rank>\n");
    return 2;
  }
  return load(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
} catch (const std::exception& failure) {
  return monomorph::report_failure(failure);
}
