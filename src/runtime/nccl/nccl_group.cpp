#include "runtime/nccl/nccl_group.hpp"

#include "runtime/nccl/gpu_tensor.hpp"
#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/store_handle.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace monomorph::cuda {
namespace {

/// By default c10d's watchdog ends the process with a stack trace. With this value it only aborts a collective that
/// hangs, so that the message is ours. A value that the user has set is kept.
void keep_process_alive() {
  [[maybe_unused]] static const int once = ::setenv("TORCH_NCCL_ASYNC_ERROR_HANDLING", "2", 0);
}

}  // namespace

struct NcclGroup::Group {
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl;
};

NcclGroup::NcclGroup(const distributed::Store& store, const distributed::RankGroup& group, c10::DeviceIndex device,
                     std::chrono::milliseconds time_limit)
    : device_(device), n_others_(group.size() - 1) {
  keep_process_alive();
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = time_limit;
  try {
    group_ = std::make_unique<Group>(Group{
        c10::make_intrusive<c10d::ProcessGroupNCCL>(store.handle().store, group.rank_in_group, group.size(), options)});
    group_->nccl->eagerConnectSingleDevice(at::Device(at::kCUDA, device));  // or it would be done in the first step
  } catch (const std::exception& failure) {
    throw Error("RANK-18", fmt::format("rank {} can't connect GPU {} with those of {} other ranks ({})",
                                       group.ranks[group.rank_in_group], device, group.size() - 1,
                                       distributed::first_line(failure)));
  }
}

/// Waits for the collectives that are running, unless they will never end.
NcclGroup::~NcclGroup() {
  if (!group_) return;
  try {
    if (group_->nccl->getError() == c10d::ErrorType::SUCCESS)
      group_->nccl->shutdown();
    else
      group_->nccl->abort();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): what failed was said where it was noticed
  }
}

template <class Act> auto NcclGroup::as_rank_failure(Purpose purpose, Act act) {
  try {
    return act();
  } catch (const std::exception& failure) {
    throw distributed::failure_of(std::nullopt, false, failure).during(purpose.text(purpose.unit));
  }
}

template <class Start> NcclGroup::Work NcclGroup::begin(Start start) {
  check();
  Work work = as_rank_failure(purpose_, start);
  begun_.push_back({work, purpose_});
  return work;
}

NcclGroup::Work NcclGroup::all_gather(View shard, View unsharded) {
  sent_bytes_ += n_others_ * shard.bytes();
  return begin([&] {
    at::Tensor from = tensor_of(shard, device_), to = tensor_of(unsharded, device_);
    return group_->nccl->_allgather_base(to, from);
  });
}

NcclGroup::Work NcclGroup::all_to_all(std::span<const View> sent, std::span<const View> received) {
  for (const View& view : sent) sent_bytes_ += view.present() ? view.bytes() : 0;
  DType dtype = DType::fp32;  // c10d wants the same one for all tensors, even without elements
  for (const auto& views : {sent, received})
    for (const View& view : views)
      if (view.present()) dtype = view.dtype;
  const auto tensors = [&](std::span<const View> views) {
    std::vector<at::Tensor> all;
    for (const View& view : views) all.push_back(tensor_of(view, scalar_type(dtype), device_));
    return all;
  };
  std::vector<at::Tensor> from = tensors(sent), to = tensors(received);
  return begin([&] { return group_->nccl->alltoall(to, from); });
}

NcclGroup::Work NcclGroup::all_reduce_sum(at::Tensor words) {
  std::vector<at::Tensor> all{std::move(words)};
  return begin([&] { return group_->nccl->allreduce(all); });
}

void NcclGroup::join(Work& work) {
  as_rank_failure(purpose_, [&] { work->synchronize(); });
}

void NcclGroup::check() {
  const c10d::ErrorType error = group_->nccl->getError();  // first, as an aborted collective looks completed below
  if (error != c10d::ErrorType::SUCCESS) {
    const Purpose purpose = begun_.empty() ? purpose_ : begun_.front().purpose;
    const RankFailure failure = error == c10d::ErrorType::TIMEOUT
                                    ? distributed::silent_rank(std::nullopt, false)
                                    : distributed::gone_rank(std::nullopt, "NCCL reports it");
    throw failure.during(purpose.text(purpose.unit));
  }
  while (!begun_.empty() && begun_.front().work->isCompleted()) begun_.pop_front();
}

}  // namespace monomorph::cuda
