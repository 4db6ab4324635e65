// What a policy may leave out, where it is there, is what its reader asks for.
// expect-error: \[SHARD-03\] a sharding policy's parameter_space, if it has one, must be
// expect-error: \[SHARD-03\] a sharding policy's group, if it has one, must be
// expect-error: \[ACT-04\] a checkpointing policy's offloads, if it has one, must be
// expect-error: \[SCHEDULE-01\] a schedule's validate, if it has one, must be
// expect-error: \[OBSERVE-01\] an observer's Hparams, if it has some, must be
// expect-error: \[DEVICE-01\] a device's own_memory, if it has one, must be
// expect-error: \[DEVICE-01\] a device's workspace_bytes, if it has one, must be
// expect-error: \[DEVICE-01\] a device's context_bytes, if it has one, must be
// expect-error: \[DEVICE-01\] a device's communication_bytes, if it has one, must be
// expect-error: \[DEVICE-01\] a device's batch_scratch_elements, if it has one, must be
#include "support/control.hpp"
struct Sharding : monomorph::sharding::FullShard {
#if NEGATIVE
  static constexpr int parameter_space = 0;
  static int group(int dp);
#else
  static constexpr auto parameter_space = monomorph::MemorySpace::device;
  static constexpr int group = 64;  // as many as rules look at
#endif
};
struct Checkpointing : monomorph::checkpointing::KeepAll {
#if NEGATIVE
  static constexpr bool offloads() { return true; }
#else
  static constexpr bool offloads(int block) { return block >= 0; }
#endif
};
struct Schedule : monomorph::schedule::WarmupDecay {
#if NEGATIVE
  static void validate(const Hparams&, monomorph::Mistakes&);
#else
  static void validate(const Hparams&, std::int64_t, monomorph::Mistakes&);
#endif
};
struct Observer {
#if NEGATIVE
  static constexpr int Hparams = 1;
#else
  struct Hparams {};
  explicit Observer(const Hparams&) {}
#endif
  static bool wants(std::int64_t) { return false; }
  static void observe(const auto& step, auto& records);
};
struct Device : monomorph::device::Cpu {
#if NEGATIVE
  static constexpr int own_memory() { return 1; }
  static constexpr std::int64_t workspace_bytes(std::int64_t batch) { return batch; }
  static std::int64_t context_bytes;
  static constexpr std::int64_t communication_bytes = 1;
  static constexpr std::int64_t batch_scratch_elements(int matrices) { return matrices; }
#else
  static constexpr bool own_memory = true;
  static constexpr std::int64_t workspace_bytes(monomorph::PassExtent extent) { return extent.batch; }
  static constexpr std::int64_t context_bytes = 1;
  static constexpr std::int64_t communication_bytes(int ranks) { return ranks; }
  static constexpr std::int64_t batch_scratch_elements = 1;
#endif
};
struct Case : Control {
  using sharding = Sharding;
  using checkpointing = Checkpointing;
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
  using schedule = Schedule;
  using observer = Observer;
  using device = Device;
};
static_assert(monomorph::admit<Case>());
