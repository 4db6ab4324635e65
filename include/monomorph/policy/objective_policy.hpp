#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <monomorph/core/objective_metric.hpp>
#include <monomorph/core/sample.hpp>
#include <monomorph/policy/axis.hpp>

namespace monomorph {

/// Whether an objective changes each sample before a batch is made of it.
template <class P> concept PreparesSamples = requires(const Sample& sample, const typename P::Hparams& hparams) {
  { P::prepare(sample, hparams) } -> std::same_as<void>;
};

/// Whether an objective is over embeddings of texts, and not over logits of tokens.
template <class P> inline constexpr bool is_over_embeddings = requires { P::texts_per_sample; };

/// Whether an objective over logits is over the log-probabilities of sequences, several to a sample, and not over
/// single tokens.
template <class P> inline constexpr bool is_over_sequences = requires { P::sequences_per_sample; };

/// Whether an objective over logits compares them with those of another model, its teacher.
template <class P> inline constexpr bool has_teacher = requires { typename P::Teacher; };

/// Texts, or sequences, that an objective takes from a sample together; 0 of one that is over neither.
template <class P> constexpr std::int64_t texts_per_sample() {
  if constexpr (is_over_embeddings<P>)
    return P::texts_per_sample;
  else
    return 0;
}
template <class P> constexpr std::int64_t sequences_per_sample() {
  if constexpr (is_over_sequences<P>)
    return P::sequences_per_sample;
  else
    return 0;
}

/// Whether an objective over logits predicts the token after each one, as one over sequences does. An objective over
/// embeddings predicts no tokens.
template <class P>
inline constexpr bool predicts_next_token = [] {
  if constexpr (is_over_embeddings<P>)
    return false;
  else if constexpr (is_over_sequences<P>)
    return true;
  else
    return bool{P::predicts_next_token};
}();

namespace detail {
/// P has metrics: an array of ObjectiveMetric that is no longer than what a step adds up.
template <class P> concept ReportsMetrics = requires {
  requires std::same_as < decltype(&P::metrics), const std::array<ObjectiveMetric, P::metrics.size()>
  * > ;
  requires P::metrics.size() <= most_objective_metrics;
  typename Constant<P::metrics.size()>;
};
}  // namespace detail

/// The metrics of an objective. Most objectives have none.
template <class P>
inline constexpr auto metrics_of = [] {
  if constexpr (detail::ReportsMetrics<P>)
    return P::metrics;
  else
    return std::array<ObjectiveMetric, 0>{};
}();

/// What is minimised, summed over what counts: tokens, or samples. A policy may export
/// `template <class R> using rules = RuleList<…>`. One over logits has, besides the parts,
///
///   template <class Queue> static void loss(Queue, const TokenLogits&, const Hparams&);
///
/// which makes losses and gradients of logits, by a kernel of the queue (runtime/kernels/cross_entropy.hpp), or by
/// `each_token` with arithmetic of its own. One with a type `Teacher`, which says a model of the same vocabulary as a
/// recipe does, is given what that makes of the same tokens, too, as TaughtLogits (runtime/kernels/distillation.hpp).
/// One over sequences has
///
///   template <class Queue> static void loss(Queue, const SequenceBatch&, const Hparams&);
///
/// which makes losses of samples, and gradients of the log-probabilities of their sequences, by a kernel of the queue
/// (runtime/kernels/sequences.hpp), or by `each_sample`. One over embeddings, of an encoder, has
///
///   template <class Queue> static void loss(Queue, const TextEmbeddings&, const Hparams&);
///
/// which makes losses and gradients of the embeddings of a batch, by a kernel of the queue
/// (runtime/kernels/text_embeddings.hpp), or by `each_sample` with arithmetic of its own. All may have
///
///   static void prepare(const Sample&, const Hparams&);
///
/// which changes the inputs and targets of a sample (core/sample.hpp) before a batch is made of them, in training and
/// in evaluations. Targets come as the tokens behind the inputs, or, where `predicts_next_token` is false, as the
/// inputs themselves: `prepare` then hides those that are to be predicted, and ignores the other targets. For an
/// objective over embeddings the target of a token is the number of its text among the texts of its sample.
/// And it may have
///
///   static constexpr std::array<ObjectiveMetric, n> metrics{…};
///
/// to whose sums `loss` adds beside that of the losses: they are reported with it, in training and in evaluations.
struct ObjectiveAxis {
  MONOMORPH_OPTIONAL_AXIS(objective, "monomorph::objective::NextToken")
  MONOMORPH_LOOK_UPS(Look, loss, prepare, metrics);
  /// Said of one without `loss`, and below the firewall of one whose `loss` cannot be called.
  template <class P, bool holds> static consteval void explain_loss() {
    static_assert(holds,
                  "[OBJ-02] an objective must have `template <class Queue> static auto loss(Queue, const auto& logits, "
                  "const Hparams&)`: losses and gradients of a monomorph::TokenLogits, or, with a `Teacher`, of a "
                  "monomorph::TaughtLogits, or, over sequences, of a monomorph::SequenceBatch, or, over embeddings, of "
                  "a monomorph::TextEmbeddings "
                  "(docs/rules.md#obj-02)");
  }
  static constexpr int most_sequences = 8;
  template <class P> struct Parts {
    static constexpr int most_texts = 8;
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool over_embeddings = is_over_embeddings<P>, over_sequences = is_over_sequences<P>;
    static constexpr bool predicts =
        over_embeddings || over_sequences || MONOMORPH_HAS_CONSTANT(bool, predicts_next_token);
    static constexpr bool sequences = [] {
      if constexpr (MONOMORPH_HAS_CONSTANT(int, sequences_per_sample))
        return 1 <= P::sequences_per_sample && P::sequences_per_sample <= most_sequences;
      return !over_sequences;
    }();
    static constexpr bool texts = [] {
      if constexpr (MONOMORPH_HAS_CONSTANT(int, texts_per_sample))
        return 2 <= P::texts_per_sample && P::texts_per_sample <= most_texts;
      return !over_embeddings;
    }();
    static constexpr bool planned = !over_embeddings || requires(std::int64_t n) {
      { P::workspace_elements(n) } -> std::same_as<std::int64_t>;
      { P::flops_per_sample(n, 1, n) } -> std::same_as<double>;
      typename Constant<P::workspace_elements(1)>;
    };
    static constexpr bool loss = Look::has_loss<P>;
    static constexpr bool prepare = !Look::has_prepare<P> || PreparesSamples<P>;
    static constexpr bool metrics = !Look::has_metrics<P> || detail::ReportsMetrics<P>;
    /// A token sees itself: a target that is its own input must be hidden.
    static constexpr bool hides_targets = [] {
      if constexpr (hparams && predicts && !over_embeddings) return predicts_next_token<P> || PreparesSamples<P>;
      return true;
    }();
    static constexpr bool all_hold =
        hparams && predicts && texts && sequences && planned && loss && prepare && metrics && hides_targets;
    static consteval void explain() {
      static_assert(
          hparams,
          "[OBJ-02] an objective must have `struct Hparams`, adapted by BOOST_HANA_ADAPT_STRUCT: its fields of "
          "the section `loss` (docs/rules.md#obj-02)");
      static_assert(predicts,
                    "[OBJ-02] an objective must have `static constexpr bool predicts_next_token`: no token may then "
                    "attend to those behind it; or, over sequences, `static constexpr int sequences_per_sample`; or, "
                    "over embeddings, `static constexpr int texts_per_sample` (docs/rules.md#obj-02)");
      static_assert(texts,
                    "[OBJ-05] texts_per_sample of an objective over embeddings must be a `static constexpr int` in "
                    "2..8; change it (docs/rules.md#obj-05)");
      static_assert(sequences,
                    "[OBJ-08] sequences_per_sample of an objective over sequences must be a `static constexpr int` in "
                    "1..8; change it (docs/rules.md#obj-08)");
      static_assert(
          planned || !texts,
          "[OBJ-06] an objective over embeddings must have `static constexpr std::int64_t "
          "workspace_elements(std::int64_t samples)` and `static constexpr double "
          "flops_per_sample(std::int64_t micro_batch, int ranks, std::int64_t width)`: memory for the samples of "
          "all ranks, and what is computed for one (docs/rules.md#obj-06)");
      explain_loss<P, loss>();
      static_assert(prepare || !hparams,
                    "[OBJ-02] the member `prepare` of an objective must be `static void prepare(const "
                    "monomorph::Sample&, const Hparams&)`: it changes inputs and targets of a sample "
                    "(docs/rules.md#obj-02)");
      static_assert(!prepare || hides_targets,
                    "[OBJ-03] an objective whose predicts_next_token is false must have `static void prepare(const "
                    "monomorph::Sample&, const Hparams&)`, as a token's target is then the token itself, which "
                    "`prepare` must hide in the inputs (docs/rules.md#obj-03)");
      static_assert(metrics,
                    "[OBJ-07] the metrics of an objective must be `static constexpr "
                    "std::array<monomorph::ObjectiveMetric, n> metrics{...}` of at most 4; change them "
                    "(docs/rules.md#obj-07)");
    }
  };
};
template <class P> concept ObjectivePolicy = Fits<ObjectiveAxis, P>;

}  // namespace monomorph
