#pragma once
#include "train/weights/model_folder.hpp"
#include "train/weights/weights_source.hpp"

#include <monomorph/core/dtype.hpp>
#include <monomorph/runtime/files/safetensors.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// Adapters in the format of Hugging Face's peft: adapter_config.json and adapter_model.safetensors.
namespace monomorph::train {

/// Writes the adapters of a checkpoint. The config comes last, so an export that was interrupted has none.
/// @param folder created; no adapters may stand in it already
/// @return a line for the user
/// @throws UsageError [ADAPTER-03], [ADAPTER-04] the recipe has no adapters, [WEIGHTS-01], [WEIGHTS-06]; as
///   CheckpointWeights and AtomicFile
std::string export_adapters(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                            DType dtype);

/// The adapters of a folder, by their canonical names.
class AdapterFolder : public WeightsSource {
 public:
  /// @throws UsageError [ADAPTER-01] the config is not the JSON that it must be, or not of LoRA; [ADAPTER-02] it says
  ///   what the recipe's adapters are not; [ADAPTER-03], [ADAPTER-04]; [WEIGHTS-07]; as path_in and
  ///   runtime::SafetensorsFile
  AdapterFolder(const std::string& folder, const Family& family, const RecipeProgram& recipe);

  const std::vector<std::string>& notes() const { return notes_; }  ///< in what the adapters differ, and may
  std::string where() const override { return folder_; }
  std::vector<std::string> unused() const override { return unused_; }
  const Shape* find(const std::string& name) const override;
  void read(const std::string& name, std::int64_t first, View to) override;

 private:
  struct Tensor {
    const runtime::TensorEntry* entry;
    Shape shape;
  };
  std::string folder_;
  std::vector<std::string> notes_;
  runtime::SafetensorsFile file_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::string> unused_;
  std::vector<std::byte> buffer_;
};

/// A model's weights, and adapters from elsewhere.
class AdaptedWeights : public WeightsSource {
 public:
  AdaptedWeights(std::unique_ptr<WeightsSource> base, std::unique_ptr<WeightsSource> adapters)
      : base_(std::move(base)), adapters_(std::move(adapters)) {}

  std::string where() const override { return base_->where() + " and " + adapters_->where(); }
  std::vector<std::string> unused() const override;
  const Shape* find(const std::string& name) const override { return of(name).find(name); }
  void read(const std::string& name, std::int64_t first, View to) override { of(name).read(name, first, to); }
  bool read_nf4(const std::string& name, const Nf4Matrix& to) override { return of(name).read_nf4(name, to); }

 private:
  WeightsSource& of(const std::string& name) const;
  std::unique_ptr<WeightsSource> base_, adapters_;
};

}  // namespace monomorph::train
