#pragma once
#include "simulator/simulated_step.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/traffic.hpp>
#include <monomorph/runtime/comm/connect_ranks.hpp>

#include <fmt/format.h>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

/// What programs are made of that are one of the ranks of a small training, on a CPU or on a simulated GPU of its own.
namespace monomorph::testing {

/// For the others to come, and for what they send. Ranks that all go on are slow at times, where they share processors
/// with much else, and a time limit must not end them: ranks that wait for each other end by the simulator's own
/// (docs/why/simulator.md). What tests what becomes of a rank that is silent gives a short one, in seconds.
inline std::chrono::seconds time_limit_of_ranks() {
  const char* const given = std::getenv("MONOMORPH_SIMULATOR_RANK_TIMEOUT");
  return std::chrono::seconds(given == nullptr ? 600 : std::atoi(given));
}

/// A training, whatever ranks share it.
struct Task {
  bool in_tree;
  Schedule schedule;
  int n_steps;
  std::int64_t micro_batches;  ///< of all ranks, each of one row; of pairs, the rows of the only one
  bool records;
};

/// Reads an outcome when the next step has been asked for, as a run does. Ranks share the micro-batches of a step, each
/// of one row. Pairs are compared with all of a micro-batch, so that ranks share one, row by row.
template <Recipe R> class RankOfTraining {
 public:
  RankOfTraining(const World& world, const Task& task)
      : world_(world),
        task_(task),
        communicator_(connect_ranks<typename device_of<R>::Queue>(world, world.groups({}).data,
                                                                  {R::sharding::optimizer_shards(world.size()),
                                                                   R::precision::reduce_dtype, task.in_tree})) {
    step_.record_steps(task.records);
    if constexpr (has_teacher<objective_of<R>>) give_teacher(step_);
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
      step_.accumulate(batch_from<R>((i * world_.size() + world_.rank()) * own_rows()), number_,
                       {.index = i, .count = n});
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
  static constexpr bool compares_pairs = is_over_embeddings<objective_of<R>>;
  std::int64_t shared() const { return task_.micro_batches / world_.size(); }
  std::int64_t own_micro_batches() const { return compares_pairs ? 1 : shared(); }
  std::int64_t own_rows() const { return compares_pairs ? shared() : 1; }
  int levels() const { return task_.in_tree ? plan::tree_levels(own_micro_batches()) : 0; }

  const World& world_;
  const Task& task_;
  Owned<Communicator> communicator_;
  train::Step<R> step_{*communicator_, own_rows(), 3, levels()};
  PolicyHparams hparams_ = PolicyHparams::of<typename R::optimizer::Hparams>();
  std::uint64_t number_ = 0;
};

inline std::optional<Schedule::Order> schedule_order(std::string_view name) {
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

/// Ends what the GPU still does.   @return the exit code: 4 after a race, which is printed with the places of all waits
inline int ended() {
  Simulator::the().finish();
  const auto races = Simulator::the().take_races();
  for (const std::string& race : races) fmt::print("race: {}\n", race);
  for (const std::string& place : Simulator::the().places_of_waits()) fmt::print("place: {}\n", place);
  return races.empty() ? 0 : 4;
}

/// The exit code of a program that calls run().
inline int run_rank(auto run) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a test waits for lines
  try {
    return run();
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    std::_Exit(1);  // what still waits for a rank that has gone
  }
}

}  // namespace monomorph::testing
