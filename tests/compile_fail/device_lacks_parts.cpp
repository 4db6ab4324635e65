// expect-error: \[DEVICE-01\] a device must have `static constexpr std::string_view name`
// expect-error: \[DEVICE-01\] a device must have a type `Queue`
// expect-error: \[DEVICE-01\] a device must have `static constexpr std::int64_t loss_chunk_tokens\(std::int64_t
// padded_vocab\)`
#include "support/control.hpp"
struct Own {
#if !NEGATIVE
  static constexpr std::string_view name = "Own";
  using Queue = monomorph::device::Cpu::Queue;
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 64; }
#endif
};
static_assert(monomorph::admit<monomorph::On<Control, Own>>());
