#include "runtime/nccl/nccl_group.hpp"

#include "runtime/cuda/host/check.hpp"
#include "runtime/distributed/failures.hpp"
#include "runtime/nccl/failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/plan/traffic.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

namespace monomorph::cuda {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds between_looks{50};

ncclDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::fp32:
      return ncclFloat32;
    case DType::bf16:
      return ncclBfloat16;
    case DType::fp16:
      return ncclFloat16;
    case DType::fp64:
      return ncclFloat64;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      break;  // nothing of 8 bits is added up between ranks
  }
  __builtin_unreachable();
}

std::size_t count_of(const View& x) { return static_cast<std::size_t>(x.elements()); }
std::size_t bytes_of(const View& x) { return static_cast<std::size_t>(x.bytes()); }

/// The first rank of a group makes an id, by which NCCL finds the others.
ncclUniqueId shared_id(const World& world, const std::string& key, const RankGroup& ranks) {
  ncclUniqueId id{};
  if (ranks.rank_in_group == 0) {
    if (const ncclResult_t result = ncclGetUniqueId(&id); result != ncclSuccess)
      throw not_connected(ranks, ncclGetErrorString(result));
    world.set(key, std::string(id.internal, sizeof id.internal));
    return id;
  }
  const std::string text = world.get(key, ranks.ranks.front());
  std::memcpy(id.internal, text.data(), std::min(text.size(), sizeof id.internal));
  return id;
}

}  // namespace

NcclGroup::NcclGroup(const World& world, const std::string& key, RankGroup ranks)
    : ranks_(std::move(ranks)), time_limit_(world.time_limit()) {
  connect(world, key);
}

NcclGroup::~NcclGroup() {
  if (nccl_ == nullptr) return;
  if (settled(ncclCommFinalize(nccl_)) == ncclSuccess)
    ncclCommDestroy(nccl_);
  else
    abort();
}

void NcclGroup::connect(const World& world, const std::string& key) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // so that a rank that does not come ends this one within the time limit
  const ncclUniqueId id = shared_id(world, key, ranks_);
  const ncclResult_t result = settled(ncclCommInitRankConfig(&nccl_, ranks_.size(), id, ranks_.rank_in_group, &config));
  if (result == ncclSuccess) return;
  abort();
  throw not_connected(ranks_, result == ncclInProgress ? fmt::format("not all have come within {} s",
                                                                     std::chrono::duration<double>(time_limit_).count())
                                                       : ncclGetErrorString(result));
}

/// Of a communicator that was aborted: nothing is to be waited for.
ncclResult_t NcclGroup::status() {
  const std::lock_guard lock(mutex_);
  ncclResult_t result = ncclSuccess;
  if (nccl_ == nullptr) return ncclSuccess;
  const ncclResult_t status = ncclCommGetAsyncError(nccl_, &result);
  return status == ncclSuccess ? result : status;
}

/// The communicator is not locked between the looks, so that it can be aborted meanwhile.
ncclResult_t NcclGroup::settled(ncclResult_t result) {
  const auto end = Clock::now() + time_limit_;
  for (; result == ncclInProgress && Clock::now() < end; result = status()) std::this_thread::sleep_for(between_looks);
  return result;
}

template <class Ask> void NcclGroup::ask(Ask what) {
  ncclResult_t result = ncclSuccess;
  {
    const std::lock_guard lock(mutex_);
    if (nccl_ == nullptr) return;
    result = what();
  }
  result = settled(result);
  if (result == ncclInProgress) throw distributed::silent_rank(std::nullopt, false);
  // A fault that a kernel left behind, which any call of CUDA's tells with its reason.
  if (result == ncclUnhandledCudaError) check(cudaFree(nullptr), "exchanging with other GPUs");
  if (result != ncclSuccess) throw nccl_failure(result);
}

void NcclGroup::all_gather(View shard, View unsharded, cudaStream_t stream) {
  sent_bytes_ += (ranks_.size() - 1) * shard.bytes();
  ask([&] { return ncclAllGather(shard.data, unsharded.data, bytes_of(shard), ncclUint8, nccl_, stream); });
}

void NcclGroup::reduce_scatter(View unsharded, View shard, cudaStream_t stream) {
  sent_bytes_ += (ranks_.size() - 1) * shard.bytes();
  ask([&] {
    return ncclReduceScatter(unsharded.data, shard.data, count_of(shard), type_of(shard.dtype), ncclSum, nccl_, stream);
  });
}

void NcclGroup::all_reduce(View x, ncclDataType_t type, ncclRedOp_t operation, cudaStream_t stream) {
  ask([&] { return ncclAllReduce(x.data, x.data, count_of(x), type, operation, nccl_, stream); });
}
void NcclGroup::all_reduce_words(View words, cudaStream_t stream) { all_reduce(words, ncclInt64, ncclSum, stream); }
void NcclGroup::all_reduce_words_max(View words, cudaStream_t stream) { all_reduce(words, ncclInt64, ncclMax, stream); }
void NcclGroup::all_reduce_sum(View x, cudaStream_t stream) {
  const std::int64_t part = plan::part_length(x.elements(), ranks_.size(), ranks_.rank_in_group);
  sent_bytes_ += (x.elements() - part + (ranks_.size() - 1) * part) * size_of(x.dtype);
  all_reduce(x, type_of(x.dtype), ncclSum, stream);
}

void NcclGroup::exchange(std::span<const View> sent, std::span<const View> received, cudaStream_t stream) {
  for (const View& view : sent)
    if (view.present()) sent_bytes_ += view.bytes();
  ask([&] {
    ncclGroupStart();
    for (int rank = 0; rank < ranks_.size(); ++rank) {
      const View &to = sent[rank], &from = received[rank];
      if (to.present()) ncclSend(to.data, bytes_of(to), ncclUint8, rank, nccl_, stream);
      if (from.present()) ncclRecv(from.data, bytes_of(from), ncclUint8, rank, nccl_, stream);
    }
    return ncclGroupEnd();  // it says what the calls within said
  });
}

std::optional<ncclResult_t> NcclGroup::failure() {
  const ncclResult_t result = status();
  return result == ncclSuccess || result == ncclInProgress ? std::nullopt : std::optional(result);
}

/// It may take long, as NCCL waits for recorded steps that have collectives of the group: nobody waits for it here.
void NcclGroup::abort() {
  ncclComm_t aborted = nullptr;
  {
    const std::lock_guard lock(mutex_);
    aborted = std::exchange(nccl_, nullptr);
  }
  if (aborted != nullptr) ncclCommAbort(aborted);
}

}  // namespace monomorph::cuda
