#include "runtime/nccl/cuda_communicator.hpp"

#include "runtime/distributed/failures.hpp"

#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/memory.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>

namespace monomorph::cuda {
namespace {

using device::Cuda;

std::unique_ptr<NcclGroup> connect_group(const World& world, const std::string& key, const char* name,
                                         const RankGroup& ranks) {
  if (ranks.size() == 1) return nullptr;
  return std::make_unique<NcclGroup>(world, fmt::format("{}/{}/{}", key, name, ranks.ranks.front()), ranks);
}

View all_of(Arena& arena) { return arena.take(arena.bytes() / size_of(DType::fp64), DType::fp64); }

}  // namespace

CudaCommunicator::CudaCommunicator(Queue queue, int device, const World& world, const std::string& key,
                                   const RankGroup& data, const CommunicatorSpec& spec)
    : GroupedCommunicator(data, spec.shards),
      queue_(queue),
      spec_(spec),
      gathers_(connect_group(world, key, "gathers", shard_ranks())),
      shard_sums_(connect_group(world, key, "shards", shard_ranks())),
      replica_sums_(connect_group(world, key, "replicas", replica_ranks())),
      all_(connect_group(world, key, "all", all_ranks())),
      watchdog_(device, groups(), world.time_limit()),
      words_memory_(Cuda::word_bytes, allocator(queue)),
      words_(all_of(words_memory_)),
      gather_stream_(queue.stream, watchdog_),
      reduce_stream_(queue.stream, watchdog_),
      gather_all_to_all_(gathers_.get(), shard_ranks(), gather_stream_.stream()),
      shard_all_to_all_(shard_sums_.get(), shard_ranks(), reduce_stream_.stream()),
      replica_all_to_all_(replica_sums_.get(), replica_ranks(), reduce_stream_.stream()) {
  if (leaves_order_to_nccl(spec.wire)) return;
  staging_.emplace(Cuda::staging_bytes, allocator(queue));
  ordered_reduction_.emplace(shard_all_to_all_, replica_all_to_all_, all_of(*staging_), spec.wire);
}

std::vector<NcclGroup*> CudaCommunicator::groups() const {
  std::vector<NcclGroup*> all;
  for (NcclGroup* const group : {gathers_.get(), shard_sums_.get(), replica_sums_.get(), all_.get()})
    if (group != nullptr) all.push_back(group);
  return all;
}

void CudaCommunicator::begin_all_gather(std::span<const UnitGather> units) {
  check();
  gather_stream_.after_compute();
  for (const auto& [unit, shard, unsharded] : units)
    gather_stream_.run({distributed::gathering, unit, gathers_.get()}, {trace(), TraceRow::all_gather, "gather"},
                       [&] { gathers_->all_gather(shard, unsharded, gather_stream_.stream()); });
}

void CudaCommunicator::begin_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) {
  check();
  reduce_stream_.after_compute();
  reduce_stream_.run({distributed::reducing, unit, reducing_group(reduction)},
                     {trace(), TraceRow::reduce_scatter, "reduce"}, [&] {
                       if (ordered_reduction_)
                         (*ordered_reduction_)(unsharded, shard, reduction);
                       else
                         reduce_in_any_order(unsharded, shard, reduction);
                     });
}

void CudaCommunicator::begin_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) {
  check();
  gather_stream_.after_compute();
  gather_stream_.run({distributed::exchanging_units, unit, gathers_.get()}, {trace(), TraceRow::all_gather, "exchange"},
                     [&] { exchange_(gather_all_to_all_, sent, received); });
}

void CudaCommunicator::begin_recording() {
  watchdog_.begin_recording();
  recorded_.push_back(traffic());
}

/// Which sent nothing: it was not running.
int CudaCommunicator::end_recording() {
  plan::Traffic& recorded = recorded_.back();
  recorded = distributed::difference(traffic(), recorded);
  count_again(recorded, -1);
  gather_stream_.forget();
  reduce_stream_.forget();
  return watchdog_.end_recording();
}

void CudaCommunicator::runs_recording(int recording) {
  check();
  count_again(recorded_[static_cast<std::size_t>(recording)], 1);
  watchdog_.runs_recording(recording);
}

const NcclGroup* CudaCommunicator::reducing_group(Reduction reduction) const {
  return reduction.last && replica_sums_ ? (shard_sums_ ? all_.get() : replica_sums_.get()) : shard_sums_.get();
}

/// NCCL rounds at every rank that a sum passes, so gradients of 16 bits are sent by us, which rounds them once.
bool CudaCommunicator::leaves_order_to_nccl(DType wire) const { return !spec_.in_fixed_tree && size_of(wire) >= 4; }

/// What the whole gradients hold in the place of this rank's shard nobody needs any more.
void CudaCommunicator::reduce_in_any_order(View unsharded, View shard, Reduction reduction) {
  const cudaStream_t stream = reduce_stream_.stream();
  if (shard_sums_) {
    const std::int64_t n = shard.elements();
    const View own = unsharded.columns(shard_index() * n, n);
    const bool adds = reduction.accumulate && own.data != shard.data;
    shard_sums_->reduce_scatter(unsharded, adds ? own : shard, stream);
    if (adds) add({stream}, own, shard);
  }
  if (replica_sums_ && reduction.last) replica_sums_->all_reduce_sum(shard, stream);
}

void CudaCommunicator::finish(int unit) {
  check();
  gather_stream_.before_compute(unit);
  reduce_stream_.before_compute(unit);
}

void CudaCommunicator::count_bytes(plan::Traffic& traffic) const {
  const auto sent_by = [](const std::unique_ptr<NcclGroup>& group) { return group ? group->sent_bytes() : 0; };
  traffic.gathers.bytes = sent_by(gathers_);
  traffic.reductions.bytes = sent_by(shard_sums_);
  traffic.replica_reductions.bytes = sent_by(replica_sums_);
  traffic.batch_gathers.bytes = sent_by(all_);
}

void CudaCommunicator::start_all_reduce(View words) {
  check();
  watchdog_.watch({distributed::adding_words, 0, all_.get()}, queue_.stream,
                  [&] { all_->all_reduce_words(words, queue_.stream); });
}

void CudaCommunicator::start_all_reduce_max(View words) {
  check();
  watchdog_.watch({distributed::adding_words, 0, all_.get()}, queue_.stream,
                  [&] { all_->all_reduce_words_max(words, queue_.stream); });
}

void CudaCommunicator::all_reduce_words(std::span<std::int64_t> words) {
  HostBuffer sums;
  while (!words.empty()) {
    const auto part = words.first(std::min(words.size(), static_cast<std::size_t>(words_.elements())));
    words = words.subspan(part.size());
    const View host(reinterpret_cast<std::byte*>(part.data()), DType::fp64, {1, std::ssize(part)});
    const View on_gpu = words_.columns(0, std::ssize(part));
    copy_from_host(queue_, host, on_gpu);
    start_all_reduce(on_gpu);
    std::memcpy(part.data(), copy_to_host(queue_, on_gpu, sums).data, part.size_bytes());
    check();
  }
}

void CudaCommunicator::gather_all_parts(View all) {
  check();
  const std::int64_t n = all.shape.rows / size();
  watchdog_.watch({distributed::gathering_batch, 0, all_.get()}, queue_.stream,
                  [&] { all_->all_gather(all.rows(rank() * n, n), all, queue_.stream); });
}

void CudaCommunicator::exchange(int other, View sent, View received) {
  check();
  std::vector<View> to(static_cast<std::size_t>(size())), from(to.size());
  to[static_cast<std::size_t>(other)] = sent;
  from[static_cast<std::size_t>(other)] = received;
  watchdog_.watch({distributed::exchanging, other, all_.get()}, queue_.stream,
                  [&] { all_->exchange(to, from, queue_.stream); });
  synchronize(queue_);
  check();
}

MemoryAccess CudaCommunicator::memory() const {
  return {.allocator = &allocator(queue_),
          .to_host = [](View view, HostBuffer& buffer) { return copy_to_host(Queue{}, view, buffer); },
          .place_on_host = [](View view, HostBuffer& buffer) { return cuda::place_on_host(Queue{}, view, buffer); },
          .from_host = [](View place, View view) { copy_from_host(Queue{}, place, view); }};
}

}  // namespace monomorph::cuda
