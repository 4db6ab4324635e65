#include <monomorph/runtime/memory/arena.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <sys/mman.h>
#include <cerrno>
#include <system_error>

namespace monomorph {
namespace {

std::byte* map_memory(std::int64_t bytes) {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw UsageError("ARENA-02", fmt::format("the plan's {} of memory must be free, and the system refuses them ({})",
                                             format_bytes(bytes), std::generic_category().message(errno)));
  madvise(mapped, bytes, MADV_HUGEPAGE);  // fewer TLB misses in streaming passes; only a hint
  return static_cast<std::byte*>(mapped);
}

}  // namespace

const Allocator main_memory{.allocate = map_memory, .release = [](std::byte* memory, std::int64_t bytes) {
                              munmap(memory, static_cast<std::size_t>(bytes));
                            }};

Arena::Arena(std::int64_t bytes, const Allocator& allocator)
    : allocator_(allocator), bytes_(bytes), data_(bytes > 0 ? allocator.allocate(bytes) : nullptr) {}

Arena::~Arena() {
  if (data_ != nullptr) allocator_.release(data_, bytes_);
}

View Arena::take(std::int64_t elements, DType dtype) {
  const std::int64_t begin = used_;
  used_ += align_up(elements * size_of(dtype), 64);
  if (used_ > bytes_)
    throw Error("ARENA-01", fmt::format("a buffer of {} {} exceeds the planned {}; please report this recipe", elements,
                                        name_of(dtype), format_bytes(bytes_)));
  return {data_ + begin, dtype, {1, elements}};
}

}  // namespace monomorph
