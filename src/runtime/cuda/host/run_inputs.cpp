#include "runtime/cuda/host/run_inputs.hpp"

#include "runtime/cuda/host/planned_memory.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <cstring>

namespace monomorph::cuda {
namespace {

constexpr std::int64_t alignment = 64;

// There is one in a process, as there is one stream.
RunInputs* current = nullptr;

}  // namespace

RunInputs::RunInputs(Queue queue, std::int64_t bytes) : RunInputs(queue, bytes, Empty{}) {
  on_gpu_ = take_gpu_memory(bytes, "what the host tells a recorded step");
  for (Outbox& outbox : outboxes_) {
    outbox.memory = take_host_memory(bytes, "what it tells a recorded step");
    outbox.sent = new_event();
  }
}

RunInputs::~RunInputs() {
  for (const Outbox& outbox : outboxes_) {
    if (outbox.sent != nullptr) cudaEventDestroy(outbox.sent);
    cudaFreeHost(outbox.memory);
  }
  cudaFree(on_gpu_);
}

RunInputs* RunInputs::recorded() { return current; }

void RunInputs::begin() {
  current = this;
  used_ = 0;
  inputs_.clear();
  copies_.clear();
}
void RunInputs::end() { current = nullptr; }

const std::byte* RunInputs::place(std::int64_t bytes, std::function<void(std::byte*)> write) {
  const std::int64_t at = used_;
  if (bytes > bytes_ - at)
    throw Error("GPU-08", fmt::format("what the host tells a recorded step takes more than the {} that were planned",
                                      format_bytes(bytes_)));
  used_ += (bytes + alignment - 1) / alignment * alignment;
  inputs_.push_back({at, std::move(write)});
  return on_gpu_ + at;
}

const std::byte* RunInputs::copied(const void* host, std::int64_t bytes) {
  const std::byte*& place_of_copy = copies_[{host, bytes}];
  if (place_of_copy == nullptr)
    place_of_copy =
        place(bytes, [host, bytes](std::byte* to) { std::memcpy(to, host, static_cast<std::size_t>(bytes)); });
  return place_of_copy;
}

void RunInputs::send() {
  Outbox& outbox = outboxes_[n_sent_++ % outboxes_.size()];
  // It was sent before the run before the last one, which has ended where the host has read what became of it.
  if (const cudaError_t status = cudaEventQuery(outbox.sent); status == cudaErrorNotReady)
    check(cudaEventSynchronize(outbox.sent), "computing");
  else
    check(status, "computing");
  for (const Input& input : inputs_) input.write(outbox.memory + input.at);
  if (used_ == 0) return;
  const auto bytes = static_cast<std::size_t>(std::min(used_, bytes_));
  check(cudaMemcpyAsync(on_gpu_, outbox.memory, bytes, cudaMemcpyHostToDevice, queue_.stream), "copying ids to it");
  check(cudaEventRecord(outbox.sent, queue_.stream), "recording an event");
}

}  // namespace monomorph::cuda
