// simulated_rank cpu|gpu|recorded <strategy> any_order|fixed_tree <schedule> <seed> <steps> <micro-batches> [<place>]:
// one of the ranks of a small training, as the launcher's variables say, on a CPU or on a simulated GPU of its own,
// where steps may be recorded. Whatever ranks there are, a step has the same rows. Prints the loss and the
// norm of each step in all their bits, an evaluation, how often the host waits in a step, what memory it asks for and
// whether it sends what is planned; and races, and the places of all waits, of which one may be left out. Ends with 1
// and a line where it fails, with 4 after a race, and with 2 for what it does not know.
#include "simulator/training_rank.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace monomorph::testing {
namespace {

/// Of as many blocks as use a place of whole units a second time in one pass.
using Decoder = Small<gpt2_like, 3>;

template <class R> struct ReducedInBf16 : R { using precision = precision::Bf16MixedReducingBf16; };

/// An encoder of pairs of texts.
struct Encoder {
  static constexpr EncoderSpec model{
      .vocab_size = pair_ids, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = pair_tokens, .d_ff = 24};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = optim::AdamW;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
};
using Student = Taught<Decoder, Small<llama_like>>;

/// Of six blocks, so that two ranks use each place of whole units again for a later round of matrices.
template <class Strategy> struct ByMuon : Sharded<Small<gpt2_like, 6>, Strategy> {
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};

/// What has so many blocks that most of it waits on the host.
template <class Strategy> using Deep = Sharded<Small<gpt2_like, 4>, Strategy>;
struct OnHost : Deep<sharding::HostParameters<sharding::FullShard>> {
  using checkpointing = monomorph::checkpointing::Offload<monomorph::checkpointing::RecomputeCheap>;
  using optimizer = optim::HostState<optim::AdamW>;
};

template <Recipe R> void train(const Task& task) {
  Simulator::the().set_schedule(task.schedule);
  const World world = connect(time_limit_of_ranks());
  RankOfTraining<R>(world, task).train(task.n_steps);
}

template <class R> void train_on(std::string_view device, const Task& task) {
  device == "cpu" ? train<R>(task) : train<OnGpu<R>>(task);
}

bool train(std::string_view device, std::string_view strategy, const Task& task) {
  if (strategy == "Replicate")
    train_on<Sharded<Decoder, sharding::Replicate>>(device, task);
  else if (strategy == "ShardOptimizer")
    train<OnGpu<Sharded<Decoder, sharding::ShardOptimizer>>>(task);
  else if (strategy == "ShardGradOp")
    train<OnGpu<Sharded<Decoder, sharding::ShardGradOp>>>(task);
  else if (strategy == "FullShard")
    train<OnGpu<Sharded<Decoder, sharding::FullShard>>>(task);
  else if (strategy == "HybridShard")
    train<OnGpu<Sharded<Decoder, sharding::HybridShard<2>>>>(task);
  else if (strategy == "ReduceOncePerStep")
    train<OnGpu<Sharded<Decoder, sharding::ReduceOncePerStep<sharding::FullShard>>>>(task);
  else if (strategy == "DeepReplicate")
    train_on<Deep<sharding::Replicate>>(device, task);
  else if (strategy == "DeepOnHost")
    train<OnGpu<OnHost>>(task);
  else if (strategy == "ReducedInBf16")
    train<OnGpu<ReducedInBf16<Sharded<Decoder, sharding::FullShard>>>>(task);
  else if (strategy == "Fp8Replicate")
    train_on<InFp8<Sharded<Decoder, sharding::Replicate>>>(device, task);
  else if (strategy == "Fp8ShardGradOp")
    train<OnGpu<InFp8<Sharded<Decoder, sharding::ShardGradOp>>>>(task);
  else if (strategy == "Fp8FullShard")
    train<OnGpu<InFp8<Sharded<Decoder, sharding::FullShard>>>>(task);
  else if (strategy == "PreferencesReplicate")
    train_on<Preferring<Sharded<Decoder, sharding::Replicate>>>(device, task);
  else if (strategy == "PreferencesFullShard")
    train<OnGpu<Preferring<Sharded<Decoder, sharding::FullShard>>>>(task);
  else if (strategy == "TaughtReplicate")
    train_on<Sharded<Student, sharding::Replicate>>(device, task);
  else if (strategy == "TaughtShardGradOp")
    train<OnGpu<Sharded<Student, sharding::ShardGradOp>>>(task);
  else if (strategy == "TaughtFullShard")
    train<OnGpu<Sharded<Student, sharding::FullShard>>>(task);
  else if (strategy == "MuonReplicate")
    train_on<ByMuon<sharding::Replicate>>(device, task);
  else if (strategy == "MuonShardOptimizer")
    train<OnGpu<ByMuon<sharding::ShardOptimizer>>>(task);
  else if (strategy == "MuonFullShard")
    train<OnGpu<ByMuon<sharding::FullShard>>>(task);
  else if (strategy == "PairsReplicate")
    train_on<Sharded<Encoder, sharding::Replicate>>(device, task);
  else if (strategy == "PairsFullShard")
    train<OnGpu<Sharded<Encoder, sharding::FullShard>>>(task);
  else
    return false;
  return true;
}

int main_of_rank(std::span<char*> arguments) {
  if (arguments.size() != 8 && arguments.size() != 9) return 2;
  const auto order = schedule_order(arguments[4]);
  if (!order) return 2;
  const Task task{.in_tree = arguments[3] == std::string_view("fixed_tree"),
                  .schedule = {*order, std::strtoull(arguments[5], nullptr, 10)},
                  .n_steps = std::atoi(arguments[6]),
                  .micro_batches = std::atoi(arguments[7]),
                  .records = arguments[1] == std::string_view("recorded")};
  if (arguments.size() == 9) Simulator::the().skip_wait(arguments[8]);
  if (!train(arguments[1], arguments[2], task)) return 2;
  return ended();
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  return monomorph::testing::run_rank([&] {
    return monomorph::testing::main_of_rank({argv, static_cast<std::size_t>(argc)});
  });
}
