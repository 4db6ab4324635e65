#pragma once
#include "train/weights/family.hpp"

#include <monomorph/spec/layout.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// A canonical tensor of a recipe. A vector has one row.
struct CanonicalTensor {
  std::string name;  ///< "layers.3.mlp.up.weight"
  Shape shape;
  int matrices = 1;        ///< one below the other: those of experts
  bool quantized = false;  ///< checkpoints of the recipe have it in NF4
};
/// The parameters.
std::vector<CanonicalTensor> canonical_tensors(const RecipeProgram& recipe);
/// What blocks keep of their own arithmetic, which begins with zeros wherever weights come from.
std::vector<CanonicalTensor> record_tensors(const RecipeProgram& recipe);
inline constexpr std::string_view records_begin_anew =
    "products in fp8 begin with scales of 1, as weights come without the history that scales follow";
/// Of the head that finds hidden tokens: an element for each id of the vocabulary.
inline constexpr std::string_view head_bias = "head.bias";
/// Whether it has a row, or an element, for each id of the vocabulary.
inline bool is_of_vocabulary(std::string_view name) {
  return name == "embedding.weight" || name == "head.weight" || name == head_bias;
}
/// The shape by which a row is an id's, or a position's.
inline Shape shape_by_rows(std::string_view name, Shape shape) {
  return name == head_bias ? Shape{shape.cols, shape.rows} : shape;
}
/// Whose rows are the positions that are learned.
inline constexpr std::string_view position_table = "position_embedding.weight";
/// All but those of adapters, which files of a model do not have.
std::vector<CanonicalTensor> base_tensors(const RecipeProgram& recipe);

/// Rows of a canonical tensor: all, or the matrix of one expert.
struct PlacedPart {
  std::string name;
  Shape shape;
  std::int64_t first_row = 0;
};

/// A tensor in a family's files, and what lies in it. Its rows are those of its parts, one below the other; of vectors,
/// the elements.
struct PlacedTensor {
  std::string name;
  bool transposed = false;  ///< the file has rows as columns
  bool is_vector = false;
  std::int64_t unused_rows = 0;  ///< before those of its parts, with zeros in what is written
  std::int64_t rows = 0, cols = 1;
  std::vector<PlacedPart> parts;  ///< none of a family's shared row
  bool is_of_one_expert = false;
  bool is_projection = false;  ///< in the folder of a module of sentence-transformers
  std::vector<std::int64_t> file_shape() const;
  std::int64_t elements() const { return rows * cols; }
};

/// Where all tensors of a recipe lie, but for those of adapters.
/// @param unused_positions as in PortableModel
/// @throws UsageError [WEIGHTS-01] the family has none for one of them
std::vector<PlacedTensor> placed_tensors(const Family& family, const RecipeProgram& recipe,
                                         std::int64_t unused_positions);

/// "model.layers.#.mlp.up_proj.weight" of "model.layers.3.mlp.up_proj.weight".
std::string pattern_of(const std::string& name);
/// The same with all numbers that stand alone between dots, of which a name from outside may have millions.
std::string pattern_of_all(std::string_view name);

}  // namespace monomorph::train
