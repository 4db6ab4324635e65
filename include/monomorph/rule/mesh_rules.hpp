#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/model_rules.hpp>

namespace monomorph::rule {

constexpr bool is_degree(int degree) { return 1 <= degree && degree <= 65'536; }

template <int tp, int pp, int cp> struct DegreesInRange {
  static constexpr bool holds = is_degree(tp) && is_degree(pp) && is_degree(cp);
  static consteval void explain() {
    static_assert(holds, "[MESH-01] tp, pp and cp must lie in 1..65536; change MeshSpec (docs/rules.md#mesh-01)");
  }
};
template <int tp, std::int64_t n_heads> struct TensorParallelDividesHeads {
  static constexpr bool holds = !is_degree(tp) || n_heads % tp == 0;
  static consteval void explain() {
    static_assert(holds, "[MESH-02] n_heads must be a multiple of tp; change MeshSpec::tp (docs/rules.md#mesh-02)");
  }
};
template <int tp, std::int64_t n_kv_heads> struct TensorParallelDividesKeyHeads {
  static constexpr bool holds = !is_degree(tp) || n_kv_heads % tp == 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[MESH-03] n_kv_heads must be a multiple of tp; change MeshSpec::tp or n_kv_heads (docs/rules.md#mesh-03)");
  }
};
template <int tp, std::int64_t d_ff> struct TensorParallelDividesFeedForward {
  static constexpr bool holds = !is_degree(tp) || d_ff % tp == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[MESH-04] d_ff must be a multiple of tp; change MeshSpec::tp or d_ff (docs/rules.md#mesh-04)");
  }
};
template <int tp, std::int64_t padded_vocab> struct TensorParallelDividesVocabulary {
  static constexpr bool holds = !is_degree(tp) || padded_vocab % tp == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[MESH-05] the padded vocabulary must be a multiple of tp; change vocab_multiple or MeshSpec::tp "
                  "(docs/rules.md#mesh-05)");
  }
};
template <int pp, std::int64_t n_layers> struct PipelineWithinLayers {
  static constexpr bool holds = !is_degree(pp) || n_layers < 1 || pp <= n_layers;
  static consteval void explain() {
    static_assert(holds, "[MESH-06] pp must be at most n_layers; change MeshSpec::pp (docs/rules.md#mesh-06)");
  }
};
/// Under causal attention late tokens cost more than early ones, so that the work is even only if each rank has an
/// early and a late piece of the sequence.
template <int cp, std::int64_t context_length> struct ContextParallelDividesContext {
  static constexpr bool holds = cp <= 1 || !is_degree(cp) || context_length % (2 * std::int64_t{cp}) == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[MESH-07] context_length must be a multiple of 2 cp where cp is above 1; change MeshSpec::cp or "
                  "context_length (docs/rules.md#mesh-07)");
  }
};
template <int tp, int pp, int cp> struct DataParallelOnly {
  static constexpr bool holds =
      (tp <= 1 || !is_degree(tp)) && (pp <= 1 || !is_degree(pp)) && (cp <= 1 || !is_degree(cp));
  static consteval void explain() {
    static_assert(holds,
                  "[MESH-08] tp, pp and cp must be 1 in this release, which splits work over data-parallel ranks only; "
                  "change MeshSpec (docs/rules.md#mesh-08)");
  }
};

template <class R> consteval auto mesh_rules() {
  constexpr const auto& model = trunk_of<R>;
  constexpr bool countable = sizes_countable(model);
  constexpr MeshSpec mesh = mesh_of<R>;
  return RuleList<DegreesInRange<mesh.tp, mesh.pp, mesh.cp>, TensorParallelDividesHeads<mesh.tp, model.n_heads.value>,
                  TensorParallelDividesKeyHeads<mesh.tp, model.kv_heads()>,
                  TensorParallelDividesFeedForward<mesh.tp, countable ? model.ff_width() : 0>,
                  TensorParallelDividesVocabulary<mesh.tp, countable ? model.padded_vocab() : 0>,
                  PipelineWithinLayers<mesh.pp, model.n_layers.value>,
                  ContextParallelDividesContext<mesh.cp, model.context_length.value>,
                  DataParallelOnly<mesh.tp, mesh.pp, mesh.cp>>{};
}

}  // namespace monomorph::rule
