#pragma once
#include <any>
#include <boost/hana/accessors.hpp>
#include <boost/hana/adapt_struct.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/core/to.hpp>
#include <boost/hana/for_each.hpp>
#include <boost/hana/fuse.hpp>
#include <boost/hana/string.hpp>
#include <cstddef>
#include <cstdint>
#include <monomorph/core/field.hpp>
#include <monomorph/core/named_path.hpp>
#include <monomorph/core/weighted_path.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace monomorph {

/// A count that a word can stand for, so that no number means something else: `"all"`, `"never"`. Absent is that word.
template <> struct Field<std::optional<std::int64_t>> {
  std::optional<std::int64_t> value;
  std::string_view word;  ///< what JSON has in place of a number when the value is absent
  std::int64_t min, max;
  std::string_view doc;
  constexpr operator const std::optional<std::int64_t>&() const { return value; }
};

/// The word that JSON has for an enum's value.
template <class Enum> constexpr std::string_view name_of(Enum value) {
  return EnumNames<Enum>::names[static_cast<std::size_t>(value)];
}

// What follows removes the types, so that reading, writing and checking are compiled once, in src/core.

struct IntegerRef {
  std::int64_t* value;
  std::int64_t min, max;
};
struct CountRef {
  std::optional<std::int64_t>* value;
  std::string_view word;
  std::int64_t min, max;
};
struct RealRef {
  double* value;
  double min, max;
};
struct EnumRef {
  void* value;
  std::span<const std::string_view> names;
  std::size_t (*get)(const void* value);
  void (*set)(void* value, std::size_t index);
};

/// One hyperparameter of a struct that lives elsewhere and must outlive this reference.
struct FieldRef {
  std::string name;  ///< dotted: "optimizer.clip.mode"
  std::string_view doc;
  std::variant<IntegerRef, CountRef, RealRef, bool*, std::string*, WeightedPaths*, NamedPaths*, EnumRef> target;
};

namespace detail {
inline FieldRef refer(std::string name, Field<std::int64_t>& field) {
  return {std::move(name), field.doc, IntegerRef{&field.value, field.min, field.max}};
}
inline FieldRef refer(std::string name, Field<double>& field) {
  return {std::move(name), field.doc, RealRef{&field.value, field.min, field.max}};
}
inline FieldRef refer(std::string name, Field<std::optional<std::int64_t>>& field) {
  return {std::move(name), field.doc, CountRef{&field.value, field.word, field.min, field.max}};
}
template <class T>
requires(std::is_same_v<T, bool> || std::is_same_v<T, std::string> || std::is_same_v<T, WeightedPaths> ||
         std::is_same_v<T, NamedPaths>) FieldRef refer(std::string name, Field<T>& field) {
  return {std::move(name), field.doc, &field.value};
}
template <class Enum>
requires std::is_enum_v<Enum> FieldRef refer(std::string name, Field<Enum>& field) {
  return {std::move(name), field.doc,
          EnumRef{&field.value, EnumNames<Enum>::names,
                  [](const void* value) { return static_cast<std::size_t>(*static_cast<const Enum*>(value)); },
                  [](void* value, std::size_t index) { *static_cast<Enum*>(value) = static_cast<Enum>(index); }}};
}

}  // namespace detail

/// References, and what stands before the names of those that are appended next.
class FieldList {
 public:
  /// Appends what `append` does, as a section of that name.
  void section(std::string_view name, auto append) {
    const std::size_t length = prefix_.size();
    prefix_.append(name).append(".");
    append();
    prefix_.resize(length);
  }
  template <class T> void field(std::string_view name, Field<T>& field) {
    refs_.push_back(detail::refer(prefix_ + std::string(name), field));
  }
  std::vector<FieldRef> take() { return std::move(refs_); }

 private:
  std::string prefix_;
  std::vector<FieldRef> refs_;
};

/// Hyperparameters that a policy of a recipe brings, where the policy's type is not known: a value of its struct
/// `Hparams`, adapted with BOOST_HANA_ADAPT_STRUCT. Its fields stand in the section that has it as a member.
class PolicyHparams {
 public:
  template <class Hparams> static PolicyHparams of();
  /// The caller knows the type: that of the recipe's policy.
  template <class Hparams> const Hparams& as() const;
  template <class Hparams> Hparams& as();
  void append_to(FieldList& fields) { append_(value_, fields); }

 private:
  using Append = void (*)(std::any& value, FieldList& fields);
  PolicyHparams(std::any value, Append append) : value_(std::move(value)), append_(append) {}

  std::any value_;
  Append append_;
};

// Not inline, so that those of the default policies are compiled once (train/hparams/recipe_hparams.hpp).
template <class Hparams> PolicyHparams PolicyHparams::of() {
  return PolicyHparams(Hparams{}, [](std::any& value, FieldList& fields) {
    monomorph::append_fields(std::any_cast<Hparams&>(value), fields);
  });
}
template <class Hparams> const Hparams& PolicyHparams::as() const { return std::any_cast<const Hparams&>(value_); }
template <class Hparams> Hparams& PolicyHparams::as() { return std::any_cast<Hparams&>(value_); }

/// Of a policy that brings none.
struct NoHparams {};
extern template void append_fields(NoHparams&, FieldList&);

namespace detail {
template <class T> inline constexpr bool is_field = false;
template <class T> inline constexpr bool is_field<Field<T>> = true;

/// A member is a field, a section of its own, or fields of a type that is not known here, which stand in this section.
template <class Member> void append_member(Member& member, const char* name, FieldList& fields) {
  if constexpr (is_field<Member>)
    fields.field(name, member);
  else if constexpr (std::is_same_v<Member, PolicyHparams>)
    member.append_to(fields);
  else
    fields.section(name, [&] { append_fields(member, fields); });
}
}  // namespace detail

template <class Section> void append_fields(Section& section, FieldList& fields) {
  constexpr bool adapted = boost::hana::Struct<Section>::value;
  static_assert(adapted,
                "[RECIPE-14] the Hparams of a policy must be listed by BOOST_HANA_ADAPT_STRUCT or "
                "BOOST_HANA_DEFINE_STRUCT, and so must those of their members that are no monomorph::Field; list them, "
                "or make the member a Field (docs/rules.md#recipe-14)");
  if constexpr (adapted)
    boost::hana::for_each(boost::hana::accessors<Section>(), boost::hana::fuse([&](auto name, auto accessor) {
                            detail::append_member(accessor(section), boost::hana::to<const char*>(name), fields);
                          }));
}

/// As append_fields.
template <class Hparams> std::vector<FieldRef> fields_of(Hparams& hparams) {
  FieldList fields;
  append_fields(hparams, fields);
  return fields.take();
}

class Mistakes;

/// Overwrites the fields that a JSON object names. `where` is the file's name in messages.
/// @param mistakes receives every one in the order of the text, with line and field: [HPARAM-01] unknown key,
/// [HPARAM-02]
///   wrong type, [HPARAM-03] out of range, [HPARAM-04] given twice; up to [HPARAM-05] not JSON
void read_fields(std::span<const FieldRef> fields, std::string_view json, const std::string& where, Mistakes& mistakes);
/// @throws UsageError of a line for each of them
void read_fields(std::span<const FieldRef> fields, std::string_view json, const std::string& where);

/// Overwrites one field by `section.name=value`; a string is written without quotes.
/// @param mistakes receives [HPARAM-01] to [HPARAM-04] as for a file, [HPARAM-06] no `=`
void set_field(std::span<const FieldRef> fields, std::string_view assignment, Mistakes& mistakes);
/// @throws UsageError of a line for each of them
void set_field(std::span<const FieldRef> fields, std::string_view assignment);

/// All fields as a JSON object of sections, which reads back to the same values, bit for bit.
std::string fields_to_json(std::span<const FieldRef> fields);

/// JSON Schema (draft 2020-12) of that object: types, defaults (the current values), bounds, words and doc text.
std::string fields_to_schema(std::span<const FieldRef> fields, std::string_view title);

/// The same as a Markdown table: field, type, default, range, meaning.
std::string fields_to_table(std::span<const FieldRef> fields);

}  // namespace monomorph
