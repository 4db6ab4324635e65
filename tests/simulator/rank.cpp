// simulated_rank cpu|gpu|recorded <strategy> any_order|fixed_tree <schedule> <seed> <steps> <micro-batches> [<place>]:
// one of the ranks of a small training, as the launcher's variables say, on a CPU or on a simulated GPU of its own,
// where steps may be recorded. Whatever ranks there are, a step has the same micro-batches. Prints the loss and the
// norm of each step in all their bits, an evaluation, how often the host waits in a step, what memory it asks for and
// whether it sends what is planned; and races, and the places of all waits, of which one may be left out. Ends with 1
// and a line where it fails, with 4 after a race, and with 2 for what it does not know.
#include "simulator/simulated_step.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/connect_ranks.hpp>

#include <monomorph/plan/traffic.hpp>

#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace monomorph::testing {
namespace {

template <class R> struct ReducedInBf16 : R { using precision = precision::Bf16MixedReducingBf16; };

struct Task {
  bool in_tree;
  Schedule schedule;
  int n_steps;
  std::int64_t micro_batches;  ///< of all ranks
  bool records;
};

/// Reads an outcome when the next step has been asked for, as a run does.
template <Recipe R> class RankOfTraining {
 public:
  RankOfTraining(const World& world, const Task& task)
      : world_(world),
        task_(task),
        communicator_(connect_ranks<typename device_of<R>::Queue>(world, world.groups({}).data,
                                                                  {R::sharding::optimizer_shards(world.size()),
                                                                   R::precision::reduce_dtype, task.in_tree})) {
    step_.record_steps(task.records);
  }

  void train(int n_steps) {
    train::Ticket last = take_step();
    simulator::Counts before{};
    plan::Traffic traffic;
    for (int i = 1; i <= n_steps; ++i) {
      if (i + 2 == n_steps) before = Simulator::the().counts(), traffic = communicator_->traffic();
      const train::Ticket next = i < n_steps ? take_step() : last;
      const StepOutcome outcome = step_.read(last);
      fmt::print("step {} loss {:a} norm {:a}", i, outcome.mean(outcome.loss), outcome.gradient_norm);
      for (std::size_t m = 0; m < metrics_of<objective_of<R>>.size(); ++m) fmt::print(" {:a}", outcome.metrics[m]);
      fmt::print("\n");
      if (i + 2 == n_steps) note_calls(before), note_traffic(traffic);
      last = next;
    }
    if (const std::string note = step_.take_recording_note(); !note.empty()) fmt::print("note: {}\n", note);
    fmt::print("evaluated {:a}\n", step_.evaluate(batch_from<R>(1)).loss);
  }

 private:
  train::Ticket take_step() {
    ++number_;
    const std::int64_t n = own_micro_batches();
    for (std::int64_t i = 0; i < n; ++i)
      step_.accumulate(batch_from<R>(i * world_.size() + world_.rank()), number_, {.index = i, .count = n});
    const train::Ticket ticket = step_.decide({.max_norm = 0.5});
    step_.update(hparams_, {});
    return ticket;
  }
  static void note_calls(const simulator::Counts& before) {
    const simulator::Counts now = Simulator::the().counts();
    fmt::print("a step: {} waits, {} allocations\n", now.waits - before.waits, now.allocations - before.allocations);
  }

  void note_traffic(const plan::Traffic& before) {
    const std::int64_t n = own_micro_batches();
    const plan::Traffic now = communicator_->traffic(),
                        planned =
                            plan::traffic<R>(world_.size(), world_.rank(), n, R::precision::reduce_dtype, levels());
    const auto note = [](const char* what, plan::CollectiveTraffic was, plan::CollectiveTraffic is,
                         plan::CollectiveTraffic expected) {
      fmt::print("sent: {} collectives and {} bytes of {}, as {} and {} are planned\n",
                 is.collectives - was.collectives, is.bytes - was.bytes, what, expected.collectives, expected.bytes);
      return plan::CollectiveTraffic{is.collectives - was.collectives, is.bytes - was.bytes} == expected;
    };
    const bool same = note("gathers", before.gathers, now.gathers, planned.gathers) &
                      note("reductions", before.reductions, now.reductions, planned.reductions) &
                      note("reductions among replicas", before.replica_reductions, now.replica_reductions,
                           planned.replica_reductions);
    fmt::print("traffic: {}\n", same ? "as planned" : "not as planned");
  }
  std::int64_t own_micro_batches() const { return task_.micro_batches / world_.size(); }
  int levels() const { return task_.in_tree ? plan::tree_levels(own_micro_batches()) : 0; }

  const World& world_;
  const Task& task_;
  Owned<Communicator> communicator_;
  train::Step<R> step_{*communicator_, 1, 3, levels()};
  PolicyHparams hparams_ = PolicyHparams::of<typename R::optimizer::Hparams>();
  std::uint64_t number_ = 0;
};

template <Recipe R> void train(const Task& task) {
  Simulator::the().set_schedule(task.schedule);
  const World world = connect(std::chrono::seconds(10));
  RankOfTraining<R>(world, task).train(task.n_steps);
}

template <class R> void train_on(std::string_view device, const Task& task) {
  device == "cpu" ? train<R>(task) : train<OnGpu<R>>(task);
}

bool train(std::string_view device, std::string_view strategy, const Task& task) {
  if (strategy == "Replicate")
    train_on<Sharded<Small<gpt2_like>, sharding::Replicate>>(device, task);
  else if (strategy == "ShardOptimizer")
    train<OnGpu<Sharded<Small<gpt2_like>, sharding::ShardOptimizer>>>(task);
  else if (strategy == "ShardGradOp")
    train<OnGpu<Sharded<Small<gpt2_like>, sharding::ShardGradOp>>>(task);
  else if (strategy == "FullShard")
    train<OnGpu<Sharded<Small<gpt2_like>, sharding::FullShard>>>(task);
  else if (strategy == "HybridShard")
    train<OnGpu<Sharded<Small<gpt2_like>, sharding::HybridShard<2>>>>(task);
  else if (strategy == "ReducedInBf16")
    train<OnGpu<ReducedInBf16<Sharded<Small<gpt2_like>, sharding::FullShard>>>>(task);
  else if (strategy == "Fp8Replicate")
    train_on<InFp8<Sharded<Small<gpt2_like>, sharding::Replicate>>>(device, task);
  else if (strategy == "Fp8ShardGradOp")
    train<OnGpu<InFp8<Sharded<Small<gpt2_like>, sharding::ShardGradOp>>>>(task);
  else if (strategy == "Fp8FullShard")
    train<OnGpu<InFp8<Sharded<Small<gpt2_like>, sharding::FullShard>>>>(task);
  else if (strategy == "PreferencesReplicate")
    train_on<Preferring<Sharded<Small<gpt2_like>, sharding::Replicate>>>(device, task);
  else if (strategy == "PreferencesFullShard")
    train<OnGpu<Preferring<Sharded<Small<gpt2_like>, sharding::FullShard>>>>(task);
  else
    return false;
  return true;
}

std::optional<Schedule::Order> order_of(std::string_view name) {
  using Order = Schedule::Order;
  constexpr std::pair<std::string_view, Order> orders[] = {{"late", Order::late},
                                                           {"early", Order::early},
                                                           {"kernels_first", Order::kernels_first},
                                                           {"copies_first", Order::copies_first},
                                                           {"random", Order::random}};
  for (const auto& [known, order] : orders)
    if (name == known) return order;
  return std::nullopt;
}

int main_of_rank(std::span<char*> arguments) {
  if (arguments.size() != 8 && arguments.size() != 9) return 2;
  const auto order = order_of(arguments[4]);
  if (!order) return 2;
  const Task task{.in_tree = arguments[3] == std::string_view("fixed_tree"),
                  .schedule = {*order, std::strtoull(arguments[5], nullptr, 10)},
                  .n_steps = std::atoi(arguments[6]),
                  .micro_batches = std::atoi(arguments[7]),
                  .records = arguments[1] == std::string_view("recorded")};
  if (arguments.size() == 9) Simulator::the().skip_wait(arguments[8]);
  if (!train(arguments[1], arguments[2], task)) return 2;
  Simulator::the().finish();
  const auto races = Simulator::the().take_races();
  for (const std::string& race : races) fmt::print("race: {}\n", race);
  for (const std::string& place : Simulator::the().places_of_waits()) fmt::print("place: {}\n", place);
  return races.empty() ? 0 : 4;
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a test waits for lines
  try {
    return monomorph::testing::main_of_rank({argv, static_cast<std::size_t>(argc)});
  } catch (const monomorph::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    std::_Exit(1);  // what still waits for a rank that has gone
  }
}
