// What a block may leave out, where it is there, is what its reader asks for.
// expect-error: \[LAYER-17\] n_counters of a (layer|block)
// expect-error: \[LAYER-17\] has_auxiliary_loss of a (layer|block)
// expect-error: \[LAYER-17\] idle_parameters of a (layer|block)
// expect-error: \[LAYER-17\] unit_kind of a (layer|block)
// expect-error: \[LAYER-17\] shares_first_unit of a (layer|block)
// expect-error: \[LAYER-17\] backward_reads_params of a (layer|block)
// expect-error: \[LAYER-17\] within_documents of a (layer|block)
// expect-error: \[LAYER-17\] attention_flops_per_token of a (layer|block)
// expect-error: \[LAYER-17\] recomputed_flops_per_token of a (layer|block)
// expect-error: \[LAYER-17\] loss_flops_per_token of a (layer|block)
// expect-error: \[LAYER-17\] gathered_elements of a (layer|block)
// expect-error: \[LAYER-17\] Attention of a (layer|block)
// expect-error: \[LAYER-17\] Tower of a (layer|block)
// expect-error: \[LAYER-17\] a block with a type MlpPart must have a type Tower
// expect-error: \[LAYER-17\] decode of a (layer|block)
// expect-error: \[LAYER-17\] a block or MLP part that has n_counters must have `static void update_state
// expect-error: \[LAYER-17\] a block or MLP part that has update_state must have `static constexpr int n_counters`
// expect-error: \[LAYER-17\] describe of a block or of its part
#include "support/control.hpp"
/// The parts of a block.
template <class R> struct Parts {
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int = 0) {}
  };
  struct Saved {
    constexpr Saved(monomorph::SavedPlacement, monomorph::SavedPlacement, std::int64_t) {}
  };
  using Temporary = monomorph::Nothing;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static void forward(const monomorph::TensorsOf<R>&, const Saved&);
  static void recompute(const monomorph::TensorsOf<R>&, const Saved&);
  static void backward(const monomorph::TensorsOf<R>&, const Saved&);
};
template <class R> struct Own : Parts<R> {
#if NEGATIVE
  static constexpr double n_counters = 1.5;
  static bool has_auxiliary_loss();
  static constexpr int idle_parameters = 3;
  static constexpr int unit_kind = 1;
  using shares_first_unit = bool;
  static bool backward_reads_params;
  static constexpr bool within_documents() { return true; }
  static double attention_flops_per_token() { return 1; }
  static constexpr double recomputed_flops_per_token() { return 1; }
  static constexpr double loss_flops_per_token() { return 1; }
  static constexpr std::int64_t gathered_elements = 1;
  using Attention = int;
  static constexpr int Tower = 1;
  using MlpPart = int;
  static void decode(int token);
#else
  static constexpr int n_counters = 1;
  static void update_state(auto queue, const auto& run, const std::int64_t* counters, const auto& terms);
  static constexpr bool has_auxiliary_loss = true;
  static constexpr std::int64_t idle_parameters() { return 0; }
  static constexpr bool within_documents = true;
  static constexpr double attention_flops_per_token() { return 1; }
  static constexpr double recomputed_flops_per_token(monomorph::Recompute again) { return again.attention ? 1 : 0; }
  static constexpr bool backward_reads_params = true;
  static constexpr monomorph::UnitKind unit_kind = monomorph::UnitKind::block;
  static constexpr bool shares_first_unit = false;
  using Attention = monomorph::attention::Causal;
  using Tower = R;
#endif
};
template <class R> struct Counting : Parts<R> { static constexpr int n_counters = NEGATIVE ? 1 : 0; };
/// Updates what nobody counts, and describes itself to nobody.
template <class R> struct Telling : Parts<R> {
#if NEGATIVE
  static void update_state(auto queue, const auto& run, const std::int64_t* counters, const auto& terms);
  static void describe(auto& to);
#else
  template <class Recipe> static void describe(auto& to) {
    to.add("top ", 2);
    to.add_size("width", 1, 2);
  }
#endif
};
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<Own, 3>, monomorph::Run<Counting, 2>, monomorph::Run<Telling, 1>>;
};
static_assert(monomorph::admit<Case>());
