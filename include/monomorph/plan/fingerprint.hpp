#pragma once
#include <bit>
#include <monomorph/core/hash.hpp>
#include <monomorph/core/type_name.hpp>
#include <monomorph/plan/recipe_content.hpp>
#include <monomorph/plan/teacher.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe/members.hpp>
#include <type_traits>

/// One number that changes with anything that a recipe decides at compile time: all fields of its specs, as
/// MONOMORPH_SPEC lists them, and what its types say.
namespace monomorph::plan {

namespace detail {

class Fingerprint {
 public:
  constexpr std::uint64_t value() const { return state_; }

  template <class... Values>
  requires(sizeof...(Values) != 1) constexpr void add(const Values&... values) { (add(values), ...); }
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) constexpr void add(T number) {
    const auto bits = static_cast<std::uint64_t>(number);
    char bytes[8]{};
    for (int i = 0; i < 8; ++i) bytes[i] = static_cast<char>(bits >> (8 * i));
    state_ = fnv1a_64({bytes, 8}, state_);
  }
  constexpr void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  constexpr void add(std::string_view text) {
    state_ = fnv1a_64(text, state_);
    add(0);  // ends the text
  }
  /// A text without its spaces, in which `*` takes the place of the name `stands_in`.
  constexpr void add(std::string_view text, std::string_view stands_in) {
    for (std::size_t i = 0; i < text.size();) {
      // Every recipe's compiler runs this, and rarely has to look further than the first character.
      const bool found = text[i] == stands_in.front() && text.substr(i).starts_with(stands_in);
      if (found)
        state_ = fnv1a_64('*', state_);
      else if (text[i] != ' ')
        state_ = fnv1a_64(text[i], state_);
      i += found ? stands_in.size() : 1;
    }
    add(0);  // ends the text
  }

  template <class T> constexpr void add(const Required<T>& field) { add(field.value); }
  template <class T> constexpr void add(const Defaulted<T>& field) { add(field.value); }
  template <class T> constexpr void add(const Derived<T>& field) { add(field.value, field.given); }
  /// A spec that was added to the recipe's language later counts only where it differs from its default, so that older
  /// recipes keep their fingerprints.
  template <DescribedSpec Spec> constexpr void add(const Spec& spec) {
    if constexpr (requires { Spec::came_later; }) {
      if (spec == Spec{}) return;
      add(type_name<Spec>());
    }
    for_each_field(spec, [&](const char*, const auto& field) { add(field); });
  }

 private:
  std::uint64_t state_ = fnv1a_64("monomorph recipe 3");
};

/// The kind of model, and its layers around the blocks.
template <class R> constexpr void add_kind(Fingerprint& fingerprint) {
  if constexpr (!kind_came_first<SpecOf<R>>) {
    fingerprint.add(type_name<SpecOf<R>>(), type_name<R>());
    boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
      using Layer = typename decltype(run)::template block<R>;
      if (unit_kind<Layer> == UnitKind::block) return;
      fingerprint.add(type_name<Layer>(), type_name<R>());
      fingerprint.add(run.length);
    });
  }
}

/// The model that the objective compares with. An objective without such a model adds nothing.
template <class R> constexpr void add_teacher(Fingerprint& fingerprint) {
  if constexpr (has_teacher<objective_of<R>>) {
    using Teacher = TeacherOf<R>;
    fingerprint.add("teacher");
    fingerprint.add(Teacher::model);
    fingerprint.add(type_name<attention_of<Teacher>>(), type_name<Teacher>());
    boost::hana::for_each(layers_of<Teacher>.runs, [&](auto run) {
      fingerprint.add(type_name<typename decltype(run)::template block<Teacher>>(), type_name<Teacher>());
      fingerprint.add(run.length);
    });
  }
}

/// What is computed: the kind of model, the objective, which tokens attend to which, each layer's block, and which
/// units stay as they are.
template <class R> constexpr void add_computation(Fingerprint& fingerprint) {
  add_kind<R>(fingerprint);
  fingerprint.add(type_name<objective_of<R>>(), type_name<R>());
  fingerprint.add(type_name<attention_of<R>>(), type_name<R>());
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    fingerprint.add(type_name<typename decltype(run)::template block<R>>(), type_name<R>());
    fingerprint.add(run.length);
  });
  add_frozen<R>(fingerprint);
  add_quantized<R>(fingerprint);
  add_adapters<R>(fingerprint);
  add_amax_history<R>(fingerprint);
  add_rotaries<R>(fingerprint);
  add_teacher<R>(fingerprint);
}

/// The schedule and the observer. A recipe with the default schedule and without an observer adds nothing here, so that
/// recipes keep the fingerprints that they had before either could be chosen.
template <class R> constexpr void add_run(Fingerprint& fingerprint) {
  if constexpr (!std::is_same_v<schedule_of<R>, schedule::WarmupDecay>) {
    fingerprint.add(2);
    fingerprint.add(type_name<schedule_of<R>>(), type_name<R>());
  }
  if constexpr (rule::HasObserver<R>) {
    fingerprint.add(3);
    fingerprint.add(type_name<typename R::observer>(), type_name<R>());
  }
}

/// Types count by name and by what they say (plan/recipe_content.hpp). The name of the recipe itself does not count: it
/// is in the names of the blocks, and a recipe may be renamed.
template <class R> constexpr std::uint64_t fingerprint_of() {
  Fingerprint fingerprint;
  const auto add_type = [&](std::string_view name) { fingerprint.add(name, type_name<R>()); };
  fingerprint.add(R::model);
  fingerprint.add(mesh_of<R>);
  add_type(type_name<typename R::sharding>());
  add_type(type_name<typename R::precision>());
  add_type(type_name<typename R::checkpointing>());
  add_type(type_name<typename R::optimizer>());
  add_computation<R>(fingerprint);
  if constexpr (rule::HasExpect<R>) fingerprint.add(0, R::expect);
  if constexpr (rule::HasBudget<R>) fingerprint.add(1, R::budget);
  add_run<R>(fingerprint);
  add_policies<R>(fingerprint);
  add_units<R>(fingerprint);
  return fingerprint.value();
}

}  // namespace detail

/// It is the same with g++ and clang++ if both print the recipe's types alike (type_name).
template <class R> inline constexpr std::uint64_t fingerprint = detail::fingerprint_of<R>();

}  // namespace monomorph::plan
