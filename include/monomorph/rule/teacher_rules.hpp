#pragma once
#include <concepts>
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/teacher.hpp>
#include <monomorph/rule/attention_rules.hpp>
#include <monomorph/rule/block_rules.hpp>
#include <monomorph/rule/device_rules.hpp>
#include <monomorph/rule/head_rules.hpp>
#include <monomorph/rule/kind_rules.hpp>
#include <monomorph/rule/layer_member_rules.hpp>
#include <monomorph/rule/member_rules.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/rule/part_rules.hpp>
#include <monomorph/rule/rotary_rules.hpp>
#include <monomorph/rule/shape_rules.hpp>

/// Rules about the teacher of an objective: that it fits the student, and then those that every model must keep.
namespace monomorph::rule {

template <class Teacher> struct TeacherIsDecoder {
  static constexpr bool holds = requires {
    requires std::same_as<decltype(&Teacher::model), const DecoderSpec*>;
    typename Constant<(DecoderSpec(Teacher::model), true)>;
  };
  static consteval void explain() {
    static_assert(holds,
                  "[DISTIL-01] the teacher of an objective must be a recipe, or a struct like one, with `static "
                  "constexpr monomorph::DecoderSpec model{...};`; change the argument of Distillation "
                  "(docs/rules.md#distil-01)");
  }
};
template <class Head, class VocabularyHeadOfRecipe> struct StudentMakesLogits {
  static constexpr bool holds = std::same_as<Head, VocabularyHeadOfRecipe>;
  static consteval void explain() {
    static_assert(holds,
                  "[DISTIL-02] the last layer of a model that learns from a teacher must be VocabularyHead, as no "
                  "other is given the teacher's logits; change model, or objective (docs/rules.md#distil-02)");
  }
};
template <std::int64_t vocab_size, std::int64_t padded, std::int64_t vocab_size_of_teacher,
          std::int64_t padded_of_teacher>
struct VocabulariesAgree {
  static constexpr bool holds = vocab_size == vocab_size_of_teacher && padded == padded_of_teacher;
  static consteval void explain() {
    static_assert(holds,
                  "[DISTIL-03] a student and its teacher must have the same vocabulary, padded to as many rows, as "
                  "their logits are compared one by one; change vocab_size or vocab_multiple of one of the two "
                  "(docs/rules.md#distil-03)");
  }
};
template <class Attention, class AttentionOfTeacher, bool within_documents, bool teacher_within_documents>
struct DocumentsAgree {
  static constexpr bool holds = within_documents == teacher_within_documents;
  static consteval void explain() {
    static_assert(holds,
                  "[DISTIL-04] the attention of a student and that of its teacher must both keep within documents, or "
                  "neither, as both read the same batches; change one of the two, e.g. to PerDocument<Causal> "
                  "(docs/rules.md#distil-04)");
  }
};

/// Logits of single tokens are what an objective is given of two models.
template <class Objective, bool over_sequences, bool over_embeddings> struct TeacherIsAsked {
  static constexpr bool holds = !over_sequences && !over_embeddings;
  static consteval void explain() {
    static_assert(holds,
                  "[DISTIL-05] an objective with a Teacher must be over the logits of tokens, as one with "
                  "sequences_per_sample or texts_per_sample is given nothing of the teacher's; leave Teacher out, or "
                  "have predicts_next_token in their place (docs/rules.md#distil-05)");
  }
};

template <class R> consteval auto rules_of_pair() {
  using Teacher = plan::TeacherOf<R>;
  return RuleList<StudentMakesLogits<LastLayer<R>, VocabularyHead<R>>,
                  VocabulariesAgree<trunk_of<R>.vocab_size.value, trunk_of<R>.padded_vocab(),
                                    trunk_of<Teacher>.vocab_size.value, trunk_of<Teacher>.padded_vocab()>,
                  DocumentsAgree<attention_of<R>, attention_of<Teacher>, bool{attention_of<R>::within_documents},
                                 bool{attention_of<Teacher>::within_documents}>>{};
}

template <class Teacher>
using TeacherValueRules = decltype(layer_rules<Teacher>() + model_rules<Teacher>() + attention_rules<Teacher>() +
                                   head_rules<Teacher>() + rotary_rules<Teacher>());
template <class Teacher>
using TeacherPartRules = decltype(block_part_rules<Teacher>() + kind_layer_rules<Teacher>() +
                                  layer_member_rules<Teacher>() + device_rules<Teacher>());

/// In stages, as those of a recipe: each relies on what those before it check.
template <class Teacher> consteval auto rules_of_teacher() {
  if constexpr (!RuleList<ValueFits<ModelMember, Teacher>, AxisFits<LayersAxis, Teacher>,
                          AxisFits<AttentionAxis, Teacher>>::all_hold)
    return RuleList<ValueFits<ModelMember, Teacher>, AxisFits<LayersAxis, Teacher>, AxisFits<AttentionAxis, Teacher>>{};
  else if constexpr (!RuleList<FieldsFit<ModelOf<Teacher>>>::all_hold)
    return RuleList<FieldsFit<ModelOf<Teacher>>>{};
  else if constexpr (!TeacherValueRules<Teacher>::all_hold)
    return TeacherValueRules<Teacher>{};
  else if constexpr (!decltype(shape_rules<Teacher>() + composition_rules<Teacher>())::all_hold)
    return shape_rules<Teacher>() + composition_rules<Teacher>();
  else if constexpr (!TeacherPartRules<Teacher>::all_hold)
    return TeacherPartRules<Teacher>{};
  else
    return block_layout_rules<Teacher>() + block_attention_rules<Teacher>() + kind_rules<Teacher>() +
           exported_block_rules<Teacher>();
}

/// Of a recipe whose own values, parts and layouts are in order.
template <class R> consteval auto teacher_rules() {
  if constexpr (!has_teacher<objective_of<R>>) {
    return RuleList<>{};
  } else {
    using P = objective_of<R>;
    using First =
        RuleList<TeacherIsDecoder<typename P::Teacher>, TeacherIsAsked<P, is_over_sequences<P>, is_over_embeddings<P>>>;
    if constexpr (!First::all_hold)
      return First{};
    else if constexpr (!decltype(rules_of_teacher<plan::TeacherOf<R>>())::all_hold)
      return rules_of_teacher<plan::TeacherOf<R>>();
    else
      return rules_of_pair<R>();
  }
}

}  // namespace monomorph::rule
