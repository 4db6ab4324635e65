#pragma once
#include "runtime/kernels/host_device.hpp"

#include <monomorph/runtime/cuda/queue.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

namespace monomorph::cuda {

/// Whether what the queue is given is recorded, to run again and again (Recording). Kernels then take what changes from
/// run to run from memory, which on_device(), too, has filled in before each: from where it was told, which must stay.
bool is_recorded(Queue queue);
/// For a kernel that is recorded: a place of the GPU's memory into which `write` puts, before each run, what it finds.
/// It is called with memory of the host.
const std::byte* written_before_run(std::int64_t bytes, std::function<void(std::byte*)> write);
/// The same of the value that `make` returns.
template <class Make> auto made_before_run(Make make) {
  using T = decltype(make());
  const auto write = [make](std::byte* to) {
    const T made = make();
    std::memcpy(to, &made, sizeof made);
  };
  return reinterpret_cast<const T*>(written_before_run(sizeof(T), write));
}
/// A copy of memory of the host as it is before each run, which has one place however many kernels read it.
const std::byte* copied_before_run(const void* host, std::int64_t bytes);
/// The same of a value; null of null.
template <class T> const T* read_before_run(const T* host) {
  return host == nullptr ? nullptr : reinterpret_cast<const T*>(copied_before_run(host, sizeof(T)));
}

/// A value that may change from run to run, as a kernel gets it: with its launch, or from memory if it is recorded.
template <class T> struct OfRun {
  T given{};
  const T* in_memory = nullptr;  ///< from one of the functions above; null of a kernel that is not recorded
  MONOMORPH_HOST_DEVICE T now() const { return in_memory == nullptr ? given : *in_memory; }
};

}  // namespace monomorph::cuda
