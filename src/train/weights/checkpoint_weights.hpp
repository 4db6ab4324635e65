#pragma once
#include "train/weights/held_pages.hpp"
#include "train/weights/quantized_weights.hpp"

#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace monomorph::train {

/// The parameters of a checkpoint, whichever ranks' files hold them; their moving average, if the optimiser kept one.
/// What is there in NF4 is read as the recipe computes with it.
class CheckpointWeights : public WeightsSource {
 public:
  /// @param path of the checkpoint   @throws as runtime::CheckpointReader; UsageError [WEIGHTS-07] a parameter is not
  ///   of floating-point numbers, or is not all there in NF4
  CheckpointWeights(const std::string& path, const RecipeProgram& recipe);

  std::string where() const override { return reader_.path(); }
  std::vector<std::string> unused() const override { return unused_; }
  const Shape* find(const std::string& name) const override;
  std::optional<std::int64_t> rows_said(const std::string& name) const override;
  std::uint64_t identity() const override;
  void read(const std::string& name, std::int64_t first, View to) override;
  bool read_nf4(const std::string& name, const Nf4Matrix& to) override;
  /// Of all rows of a tensor the columns from `first` on, as many as the view has, row by row.
  virtual void read_columns(const std::string& name, std::int64_t first, View to);

 private:
  const runtime::CheckpointReader::Tensor& found(const std::string& name) const;
  void read_region(const std::string& name, const Region& region, std::int64_t first, View to);
  void add_nf4(const std::string& name, const std::string& codes);
  void note_read(std::size_t bytes);

  runtime::CheckpointReader reader_;
  std::map<std::string, Shape> shapes_;
  std::vector<std::string> unused_;
  std::vector<std::byte> buffer_;
  HeldPages held_;
  std::set<std::string> in_nf4_;
  DequantizedWeights numbers_;
};

}  // namespace monomorph::train
