#include "train/run/saving/restore_model.hpp"

#include "train/weights/checkpoint_weights.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>
#include <monomorph/train/step/host_pieces.hpp>

#include <fmt/format.h>

namespace monomorph::train {

void restore_model(const std::string& checkpoint, const RecipeProgram& recipe, InferenceModel& model) {
  check_recipe(checkpoint, recipe);
  CheckpointWeights weights(checkpoint, recipe);
  HostPieces pieces(model);
  for (const StateTensor& tensor : model.parameters()) {
    const Shape* const shape = weights.find(tensor.name);
    if (shape == nullptr || *shape != tensor.shape)
      throw Error("RUN-04", fmt::format("{}: tensor {} is not there with the recipe's shape; use a checkpoint of this "
                                        "recipe",
                                        in_quotes(checkpoint), tensor.name));
    pieces.write(tensor.view,
                 [&](const HostPieces::Piece& piece) { weights.read(tensor.name, piece.first, piece.view); });
  }
}

}  // namespace monomorph::train
