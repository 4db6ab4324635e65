// expect-error: \[DEVICE-03\] the optimizer Muon must have a device that makes matrices orthogonal
// expect-error: \[DEVICE-03\] the optimizer Sgd must have a device with the kernel sgd
// expect-error: \[DEVICE-03\] the optimizer Lion must have a device with the kernel lion
// expect-error: \[DEVICE-03\] a mixture of experts must have a device that routes tokens
// expect-error: \[DEVICE-03\] the precision Fp8Mixed must have a device with products of fp8
// expect-error: \[DEVICE-03\] a model that makes embeddings must have a device that pools the tokens of texts
// expect-error: \[DEVICE-03\] the objective ContrastivePairs must have a device that compares embeddings
// expect-error: \[DEVICE-03\] the objective Preferences must have a device that compares sequences
// expect-error: \[DEVICE-03\] the objective Distillation must have a device that compares the logits of two models
// expect-error: \[DEVICE-03\] a finetuning policy that keeps matrices in NF4 must have a device
// expect-error: \[DEVICE-03\] a policy that calls each_element, each_token or each_sample must have a device that runs
// expect-text: DeviceHasKernels<DenseDevice, .*, monomorph::kernels::Orthogonalization>
// expect-text: DeviceHasKernels<DenseDevice, .*MixtureOfExperts|Mixture<.*, monomorph::kernels::Routing>
// expect-text: DeviceHasKernels<monomorph::device::Cuda, Own, monomorph::kernels::OwnArithmetic>
#include <monomorph/device/cuda.hpp>
#include "support/encoder.hpp"
#if NEGATIVE
using Device = monomorph::device::Cuda;
/// Of a user's own, with the kernels of dense decoders alone.
struct DenseDevice {
  static constexpr std::string_view name = "DenseDevice";
  struct Queue;
  static constexpr std::int64_t loss_chunk_tokens(std::int64_t) { return 64; }
};
#else
using Device = monomorph::device::Cpu;
struct DenseDevice : monomorph::device::Cpu {
  using kernel_sets = monomorph::EveryKernelSet;
};
#endif
struct WithMuon : Control {
  using optimizer =
      monomorph::optim::Bf16State<monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>>;
};
struct WithSgd : Control {
  using optimizer = monomorph::optim::Sgd;
};
struct WithLion : Control {
  using optimizer = monomorph::optim::Lion;
};
struct WithMixture : Control {
  static constexpr auto model = changed([](auto& model) { model.bias.mlp = false; });
  using layers = monomorph::Stack<
      monomorph::Run<monomorph::DecoderBlock, 2>,
      monomorph::Run<monomorph::Mixture<monomorph::MixtureSpec{.n_experts = 4, .top_k = 2}>::Block, 4>>;
};
struct WithPreferences : Control {
  using attention = monomorph::attention::WithinDocuments;
  using objective = monomorph::objective::Preferences;
};
struct WithDistillation : Control {
  using objective = monomorph::objective::Distillation<Control>;
};
struct WithFp8 : Control {
  using precision = monomorph::precision::Fp8Mixed;
};
struct WithNf4 : Control {
  using finetuning =
      monomorph::finetuning::Nf4Base<monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = 8}>>;
};
struct Own : monomorph::objective::NextToken {
  using needs = monomorph::KernelSets<monomorph::kernels::OwnArithmetic>;
};
struct WithOwn : Control {
  using objective = Own;
};
template <class R, class On> inline constexpr bool admitted = monomorph::admit<monomorph::On<R, On>>();
static_assert(admitted<WithMuon, DenseDevice>);
static_assert(admitted<WithSgd, DenseDevice>);
static_assert(admitted<WithLion, DenseDevice>);
static_assert(admitted<WithMixture, DenseDevice>);
static_assert(admitted<WithFp8, DenseDevice>);
static_assert(admitted<EncoderControl, DenseDevice>);
static_assert(admitted<WithPreferences, DenseDevice>);
static_assert(admitted<WithDistillation, DenseDevice>);
static_assert(admitted<WithNf4, DenseDevice>);
static_assert(admitted<WithOwn, Device>);
// What the device cuda has.
static_assert(admitted<Control, monomorph::device::Cuda>);
static_assert(admitted<WithLion, monomorph::device::Cuda>);
static_assert(admitted<WithSgd, monomorph::device::Cuda>);
static_assert(admitted<WithMuon, monomorph::device::Cuda>);
static_assert(admitted<WithMixture, monomorph::device::Cuda>);
static_assert(admitted<WithFp8, monomorph::device::Cuda>);
static_assert(admitted<EncoderControl, monomorph::device::Cuda>);
static_assert(admitted<WithPreferences, monomorph::device::Cuda>);
