#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <vector>

/// How the host reaches the memory of a device. Every device has these three functions: outside of kernels nothing else
/// reads or writes what lies in its memory. Where host and device share one memory, nothing is copied.
namespace monomorph {

/// Memory of the host for a copy of what lies in a device's; stays empty where both are one.
using HostBuffer = std::vector<std::byte>;

namespace cpu {

/// What a view holds, for the host to read, when all has run that the queue was given before. It is good as long as the
/// buffer is, and until the queue is given more.
inline View copy_to_host(Queue queue, View view, HostBuffer&) {
  synchronize(queue);
  return view;
}
/// Memory of the host, of a view's dtype and shape, for what is to be copied to the view.
inline View place_on_host(Queue, View view, HostBuffer&) { return view; }
/// Brings to a view what the host has written to its place.
inline void copy_from_host(Queue, View /*place*/, View) {}

}  // namespace cpu
}  // namespace monomorph
