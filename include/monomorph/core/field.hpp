#pragma once
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace monomorph {

/// A hyperparameter: it changes from run to run, so it is a value and no part of the recipe's type. This shape is for
/// bool, std::string, WeightedPaths (in JSON one path, or an array of them), NamedPaths (one path, or an object of
/// names and paths) and enums; a string that may only be one of a few words is an enum with EnumNames.
template <class T> struct Field {
  T value;
  std::string_view doc;
  constexpr operator const T&() const { return value; }
};

/// A number with inclusive bounds, which hold for what is read; the default must satisfy them, too.
template <class T>
requires(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>) struct Field<T> {
  T value, min, max;
  std::string_view doc;
  constexpr operator const T&() const { return value; }
};

/// The words of an enum in JSON, in the order of its values, which start at 0. Specialise it beside the enum:
/// `template <> struct EnumNames<Kind> { static constexpr std::string_view names[] = {"linear", "cosine"}; };`
template <class Enum> struct EnumNames;

class FieldList;  // core/hparams.hpp

/// Appends references to all fields of a struct adapted with BOOST_HANA_ADAPT_STRUCT, sections within it included, in
/// order. Defined in core/hparams.hpp. Policies that come with Monomorph declare theirs `extern` and are adapted in
/// src/train/hparams/shipped_hparams.cpp: adapting a struct costs as much as compiling a page of code, and would be
/// done again in every recipe.
template <class Section> void append_fields(Section& section, FieldList& fields);

}  // namespace monomorph
