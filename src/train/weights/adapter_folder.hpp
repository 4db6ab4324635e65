#pragma once
#include "train/weights/adapter_places.hpp"
#include "train/weights/held_pages.hpp"
#include "train/weights/model_folder.hpp"
#include "train/weights/weights_source.hpp"

#include <monomorph/core/dtype.hpp>
#include <monomorph/runtime/files/safetensors.hpp>
#include <monomorph/spec/low_rank_spec.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Adapters in the format of Hugging Face's peft: adapter_config.json and adapter_model.safetensors.
namespace monomorph::train {

inline constexpr std::string_view adapter_config_name = "adapter_config.json",
                                  adapter_weights_name = "adapter_model.safetensors";

/// Whether a folder has a file that says so.   @throws as path_in
bool has_adapters(const std::string& folder);

/// @throws UsageError [ADAPTER-04] the recipe has none
const LowRankSpec& adapters_of(const RecipeProgram& recipe);

/// The adapters of a folder, by their canonical names.
class AdapterFolder : public WeightsSource {
 public:
  /// @throws UsageError [ADAPTER-01] the config is not the JSON that it must be, or not of LoRA; [ADAPTER-02] it says
  ///   what the recipe's adapters are not; [ADAPTER-03] what is one adapter there changes more than the recipe adapts;
  ///   [ADAPTER-04]; [ADAPTER-06] some are of what no recipe adapts; [WEIGHTS-07]; as path_in and
  ///   runtime::SafetensorsFile
  AdapterFolder(const std::string& folder, const Family& family, const RecipeProgram& recipe);

  const std::vector<std::string>& notes() const { return notes_; }  ///< in what the adapters differ, and may
  std::string where() const override { return folder_; }
  std::vector<std::string> unused() const override { return unused_; }
  const Shape* find(const std::string& name) const override;
  void read(const std::string& name, std::int64_t first, View to) override;

 private:
  /// Rows of a matrix there, or parts of its rows.
  struct Tensor {
    const runtime::TensorEntry* entry;
    DType dtype;
    Shape shape;
    std::int64_t first, row_stride;  ///< elements of the matrix
  };
  std::vector<PlacedAdapter> placed_as_the_config_says(const Family& family, const RecipeProgram& recipe);
  const runtime::TensorEntry* find_entry(const std::string& name, const Family& family) const;
  void add(const PlacedAdapter& adapter, const runtime::TensorEntry& entry, const std::string& recipe);
  void check_zeros(const PlacedAdapter& adapter, const runtime::TensorEntry& entry, const std::string& recipe);
  void check_unused(const Family& family, const std::string& recipe) const;

  std::string folder_;
  std::vector<std::string> notes_;
  std::optional<runtime::SafetensorsFile> file_;
  std::map<std::string, Tensor> tensors_;
  std::vector<std::string> unused_;
  std::vector<std::byte> buffer_;
  HeldPages held_;
};

/// A model's weights, and adapters from elsewhere.
class AdaptedWeights : public WeightsSource {
 public:
  AdaptedWeights(std::unique_ptr<WeightsSource> base, std::unique_ptr<WeightsSource> adapters)
      : base_(std::move(base)), adapters_(std::move(adapters)) {}

  std::string where() const override { return base_->where() + " and " + adapters_->where(); }
  std::vector<std::string> unused() const override;
  const Shape* find(const std::string& name) const override { return of(name).find(name); }
  std::optional<std::int64_t> rows_said(const std::string& name) const override { return of(name).rows_said(name); }
  void check_copies() override { base_->check_copies(); }
  void read(const std::string& name, std::int64_t first, View to) override { of(name).read(name, first, to); }
  bool read_nf4(const std::string& name, const Nf4Matrix& to) override { return of(name).read_nf4(name, to); }
  void dequantize_nf4(const std::string& name, View to) override { of(name).dequantize_nf4(name, to); }
  std::string note_of_reading() const override { return base_->note_of_reading(); }

 private:
  WeightsSource& of(const std::string& name) const;
  std::unique_ptr<WeightsSource> base_, adapters_;
};

}  // namespace monomorph::train
