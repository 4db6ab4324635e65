#include "runtime/memory/thread_workspace.hpp"
#include <memory>
#include <monomorph/runtime/machine/parallel.hpp>
#include <monomorph/runtime/memory/workspace.hpp>
#include <new>

namespace monomorph {
namespace detail {
namespace {
constexpr std::align_val_t alignment{64};
struct Free {
  void operator()(std::byte* memory) const { ::operator delete(memory, alignment); }
};
using Workspace = std::unique_ptr<std::byte, Free>;

std::byte* at_first_use(Workspace& workspace, std::size_t bytes) {
  if (!workspace) workspace.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
  return workspace.get();
}
}  // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDelete): a thread's workspace lives as long as the thread
std::byte* tile_workspace() {
  thread_local Workspace workspace;
  return at_first_use(workspace, tile_workspace_bytes);
}

std::byte* partial_workspace() {
  thread_local Workspace workspace;
  return at_first_use(workspace, partial_workspace_bytes);
}
// NOLINTEND(clang-analyzer-cplusplus.NewDelete)
}  // namespace detail

std::int64_t kernel_workspace_bytes() {
  // What MKL keeps of each thread that has multiplied large matrices: 13.6 MiB were measured with AVX-512.
  constexpr std::size_t of_mkl = std::size_t{14} << 20;
  return static_cast<std::int64_t>(detail::partial_workspace_bytes + (detail::tile_workspace_bytes + of_mkl) *
                                                                         static_cast<std::size_t>(compute_threads()));
}

}  // namespace monomorph
