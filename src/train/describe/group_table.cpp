#include "train/describe/group_table.hpp"

#include <monomorph/core/quantity_text.hpp>

#include <algorithm>
#include <limits>

namespace monomorph::train {
namespace {

struct Row {
  std::string name;
  double least_lr = std::numeric_limits<double>::infinity(), most_lr = 0, weight_decay = 1;
  bool is_trained = true;
  std::int64_t tensors = 0, parameters = 0;
};

std::string_view text_of(ParameterClass parameter_class) {
  switch (parameter_class) {
    case ParameterClass::linear:
      return "linear";
    case ParameterClass::embedding:
      return "embedding";
    case ParameterClass::norm:
      return "norm";
    case ParameterClass::bias:
      return "bias";
    case ParameterClass::head:
      return "head";
    case ParameterClass::state:
      return "state";
  }
  return "";
}
std::string text_of(const ParameterSelector& selector) {
  return selector.by_name() ? std::string(selector.pattern)
                            : fmt::format("class {}", text_of(selector.parameter_class));
}
std::string factors_text(const Row& row) {
  if (!row.is_trained) return "";
  const std::string lr = row.least_lr == row.most_lr ? fmt::format("{:.4g}", row.most_lr)
                                                     : fmt::format("{:.4g} to {:.4g}", row.least_lr, row.most_lr);
  return fmt::format("lr x {}, weight decay x {:.4g}", lr, row.weight_decay);
}

/// A row of each group, then those of trained parameters in no group and of frozen ones.
std::vector<Row> rows_of(const RecipeProgram& recipe) {
  std::vector<Row> rows;
  for (const ParameterGroup& group : recipe.groups) rows.push_back({.name = text_of(group.parameters)});
  rows.push_back({.name = recipe.groups.empty() ? "trained" : "all others"});
  rows.push_back({.name = "frozen", .is_trained = false});
  rows.push_back({.name = "frozen, in NF4", .is_trained = false});
  for (int unit = 0; unit < recipe.n_units; ++unit)
    for (const TensorInfo& tensor : recipe.unit_layout(unit)) {
      if (tensor.parameter_class == ParameterClass::state) continue;  // the block's own to update
      const std::size_t n_groups = recipe.groups.size();
      const bool in_nf4 = recipe.quantizes_tensor != nullptr && recipe.quantizes_tensor(unit, tensor);
      const std::size_t i = in_nf4                                 ? n_groups + 2
                            : !recipe.trains_tensor(unit, tensor)  ? n_groups + 1
                            : tensor.group == TensorInfo::no_group ? n_groups
                                                                   : static_cast<std::size_t>(tensor.group);
      const Multipliers factors = recipe.multipliers(unit, tensor.group);
      Row& row = rows[i];
      row.least_lr = std::min(row.least_lr, factors.lr);
      row.most_lr = std::max(row.most_lr, factors.lr);
      row.weight_decay = factors.weight_decay;
      ++row.tensors;
      row.parameters += tensor.slice.shape.elements();
    }
  return rows;
}

}  // namespace

void group_table(Text& text, const RecipeProgram& recipe) {
  const std::vector<Row> rows = rows_of(recipe);
  const auto is_empty = [](const Row& row) { return row.is_trained || row.tensors == 0; };
  if (recipe.groups.empty() && std::ranges::all_of(rows, is_empty)) return;
  print(text, "groups of parameters\n");
  for (const Row& row : rows)
    if (row.tensors > 0)
      print(text, "  {:<26}{:<42}{:>6} tensor{}{:>19}\n", row.name, factors_text(row), row.tensors,
            row.tensors == 1 ? " " : "s", format_number(row.parameters));
}

}  // namespace monomorph::train
