#pragma once
#include <monomorph/runtime/memory/allocator.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>

namespace monomorph {

/// A device's memory, and how the host reaches it, as values: for what does not know the type of its queue.
struct MemoryAccess {
  const Allocator* allocator = &main_memory;
  /// These do what copy_to_host, place_on_host and copy_from_host do for a queue.
  View (*to_host)(View view, HostBuffer& buffer) = [](View view, HostBuffer&) { return view; };
  View (*place_on_host)(View view, HostBuffer& buffer) = [](View view, HostBuffer&) { return view; };
  void (*from_host)(View place, View view) = [](View, View) {};
};

}  // namespace monomorph
