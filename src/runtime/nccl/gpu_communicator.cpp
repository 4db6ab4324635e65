#include "runtime/nccl/gpu_communicator.hpp"

#include "runtime/nccl/communication_stream.hpp"
#include "runtime/cuda/check.hpp"
#include "runtime/nccl/nccl_all_to_all.hpp"
#include "runtime/cuda/pairwise.hpp"
#include "runtime/nccl/stream_trace.hpp"
#include "runtime/nccl/word_sum.hpp"
#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/gpu_communicator.hpp"
#include "runtime/distributed/grouped_communicator.hpp"
#include "runtime/distributed/unit_reduction.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/communication.hpp>
#include <monomorph/runtime/machine/gpus.hpp>

#include <ATen/ops/empty.h>
#include <c10/cuda/CUDAGuard.h>
#include <fmt/format.h>
#include <algorithm>

namespace monomorph::cuda {
namespace {

using distributed::RankGroup;

at::Tensor device_bytes(std::int64_t bytes, c10::DeviceIndex device) {
  return at::empty({bytes}, at::device(at::Device(at::kCUDA, device)).dtype(at::kByte));
}

View view_of(const at::Tensor& bytes) {
  return {static_cast<std::byte*>(bytes.data_ptr()), DType::fp64, {1, bytes.numel() / size_of(DType::fp64)}};
}

/// Collectives of different groups run at the same time on streams of their own, so each group has an NCCL communicator
/// of its own.
class GpuCommunicator final : public distributed::GroupedCommunicator {
 public:
  GpuCommunicator(const distributed::Store& store, RankPlace place, c10::DeviceIndex device, int shards, DType wire,
                  std::chrono::milliseconds time_limit)
      : GroupedCommunicator(group_of(0, 1, place.size, place.rank), shards),
        gathers_(connect(store, "gathers", shard_ranks(), device, time_limit)),
        shard_sums_(connect(store, "shards", shard_ranks(), device, time_limit)),
        replica_sums_(connect(store, "replicas", replica_ranks(), device, time_limit)),
        all_(store.under("all/"), group_of(0, 1, place.size, place.rank), device, time_limit),
        staging_(device_bytes(plan::staging_bytes(place.size), device)),
        shard_all_to_all_(shard_sums_.get(), shard_ranks(), device),
        replica_all_to_all_(replica_sums_.get(), replica_ranks(), device),
        reduction_(shard_all_to_all_, replica_all_to_all_, view_of(staging_), wire),
        word_sum_(all_, device),
        all_gather_stream_(device),
        reduce_scatter_stream_(device) {}

 private:
  static std::unique_ptr<NcclGroup> connect(const distributed::Store& store, const char* name, const RankGroup& group,
                                            c10::DeviceIndex device, std::chrono::milliseconds time_limit) {
    if (group.size() == 1) return nullptr;
    return std::make_unique<NcclGroup>(store.under(fmt::format("{}/{}/", name, group.ranks[0])), group, device,
                                       time_limit);
  }

  void begin_all_gather(int unit, View shard, View unsharded) override {
    all_gather_stream_.after_compute();
    const c10::cuda::CUDAStreamGuard guard(all_gather_stream_.stream());
    gathers_->work_for({distributed::gathering, unit});
    spans_.around(trace(), TraceRow::all_gather, "gather", unit, all_gather_stream_.stream(), [&] {
      NcclGroup::Work work = gathers_->all_gather(shard, unsharded);
      gathers_->join(work);
    });
    all_gather_stream_.done(unit);
  }

  void begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override {
    reduce_scatter_stream_.after_compute();
    const c10::cuda::CUDAStreamGuard guard(reduce_scatter_stream_.stream());
    for (NcclGroup* const group : {shard_sums_.get(), replica_sums_.get()})
      if (group != nullptr) group->work_for({distributed::reducing, unit});
    spans_.around(trace(), TraceRow::reduce_scatter, "reduce", unit, reduce_scatter_stream_.stream(),
                  [&] { reduction_(unsharded, shard, reduction); });
    reduce_scatter_stream_.done(unit);
  }

  /// A gather waits for the compute that was enqueued before it. With this it also waits for the compute before the
  /// release, if it is called from another stream.
  void note_release(int) override { all_gather_stream_.after_compute(); }

  void finish(int unit) override {
    check();
    spans_.around(trace(), TraceRow::waiting, "wait for", unit, c10::cuda::getCurrentCUDAStream(), [&] {
      all_gather_stream_.before_compute(unit);
      reduce_scatter_stream_.before_compute(unit);
    });
  }

  void count_bytes(plan::Traffic& traffic) const override {
    const auto sent_by = [](const std::unique_ptr<NcclGroup>& group) { return group ? group->sent_bytes() : 0; };
    traffic.gathers.bytes = sent_by(gathers_);
    traffic.reductions.bytes = sent_by(shard_sums_);
    traffic.replica_reductions.bytes = sent_by(replica_sums_);
    traffic.batch_gathers.bytes = all_.sent_bytes();
  }

  void all_reduce_words(std::span<std::int64_t> words) override {
    word_sum_(words, [this] { check(); });
    spans_.collect();
  }

  void gather_all_parts(View all) override {
    all_.work_for({distributed::gathering_batch, 0});
    const std::int64_t n = all.shape.rows / size();
    NcclGroup::Work work = all_.all_gather(all.rows(rank() * n, n), all);
    all_.join(work);
  }

  /// NCCL interrupts nobody when a collective fails, so every call looks for failures.
  void check() {
    for (NcclGroup* const group : {gathers_.get(), shard_sums_.get(), replica_sums_.get(), &all_})
      if (group != nullptr) group->check();
  }

  std::unique_ptr<NcclGroup> gathers_, shard_sums_, replica_sums_;
  NcclGroup all_;
  at::Tensor staging_;
  NcclAllToAll shard_all_to_all_, replica_all_to_all_;
  distributed::UnitReduction reduction_;
  WordSum word_sum_;
  StreamTrace spans_;
  CommunicationStream all_gather_stream_, reduce_scatter_stream_;  // last: they wait for what uses the members above
};

/// Returns when every rank has found a GPU. A rank that finds none ends before it connects, and NCCL would wait for it
/// without a limit.
void wait_for_all(distributed::Store store, RankPlace place, std::chrono::milliseconds time_limit) {
  const auto key = [](int rank) { return fmt::format("a GPU for rank {}", rank); };
  constexpr const char* all = "a GPU for every rank";
  store.set(key(place.rank), "yes");
  if (place.rank == 0) {
    for (int rank = 1; rank < place.size; ++rank) store.get(key(rank), rank, time_limit);
    store.set(all, "yes");
  }
  store.get(all, 0, time_limit);
}

}  // namespace

std::unique_ptr<Communicator> gpu_communicator(const distributed::Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit) {
  if (std::max(shards, place.size / shards) > most_terms)
    throw Error("RANK-16", fmt::format("a rank adds up gradients of at most {} GPUs, and here of {}; choose "
                                       "sharding::HybridShard<n> with another n",
                                       most_terms, std::max(shards, place.size / shards)));
  // A launcher may show each rank its own GPU alone, as number 0, or show all GPUs to all ranks.
  const auto device = static_cast<c10::DeviceIndex>(place.local_rank % static_cast<int>(gpus().size()));
  wait_for_all(store.under("gpus/"), place, time_limit);
  c10::cuda::set_device(device);
  return std::make_unique<GpuCommunicator>(store, place, device, shards, wire, time_limit);
}

}  // namespace monomorph::cuda

namespace monomorph {

std::unique_ptr<Communicator> distributed::gpu_communicator(const Store& store, RankPlace place, int shards, DType wire,
                                                            std::chrono::milliseconds time_limit) {
  if (const auto reason = cuda::why_no_gpu())  // before c10d, which says it with its stack
    throw without_gpu(place.rank,
                      fmt::format("CUDA has none here ({}); see nvidia-smi and CUDA_VISIBLE_DEVICES there", *reason));
  try {
    return cuda::gpu_communicator(store, place, shards, wire, time_limit);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& failure) {  // LibTorch's, of CUDA: no memory left, for one
    throw without_gpu(place.rank, fmt::format("its own does not serve ({})", first_line(failure)));
  }
}

}  // namespace monomorph
