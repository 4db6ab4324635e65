#include <monomorph/runtime/communicator.hpp>

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <string_view>

namespace monomorph {

void Communicator::gather(int unit, View own, View whole) { issue(Operation::gather, unit, own, whole); }
void Communicator::reduce(int unit, View whole, View own) { issue(Operation::reduce, unit, whole, own); }
void Communicator::release(int unit, View whole) { issue(Operation::release, unit, whole, {}); }
void Communicator::wait(int unit) { issue(Operation::wait, unit, {}, {}); }

namespace {

/// A world of one: what a rank holds is the whole, so every collective is done before it begins.
class OneRank final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }

 private:
  void issue(Operation, int, View, View) override {}
};

}  // namespace

std::unique_ptr<Communicator> connect() {
  // Slurm's variable is that of srun's step: SLURM_NTASKS is set by sbatch and salloc too, where one process runs.
  for (const char* const variable : {"WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || std::string_view(value) == "1") continue;
    throw UsageError(
        fmt::format("[RANK-01] the launcher asks for {} ranks ({}), and this release trains on one; start "
                    "the program without a launcher",
                    value, variable));
  }
  return std::make_unique<OneRank>();
}

}  // namespace monomorph
