#pragma once
#include "train/weights/bits_and_bytes.hpp"
#include "train/weights/held_pages.hpp"
#include "train/weights/model_folder.hpp"
#include "train/weights/quantized_weights.hpp"
#include "train/weights/scale_changes.hpp"
#include "train/weights/second_copy.hpp"
#include "train/weights/tensor_places.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// The weights of a folder of Hugging Face's, each a strided part of a tensor there, or of several: one of each expert.
/// A matrix that bitsandbytes keeps in NF4 is read as the recipe computes with it.
class FolderWeights : public WeightsSource {
 public:
  /// @param recipe a model that the folder's family expresses
  /// @throws UsageError [WEIGHTS-05]; [WEIGHTS-07] a tensor that weights are to be read from is not of two dimensions,
  ///   not of floating-point numbers, or, if several weights lie in it, has another shape than they make; as
  ///   FolderTensors, placed_tensors
  FolderWeights(FolderModel model, const RecipeProgram& recipe);

  std::string where() const override { return model_.folder; }
  std::vector<std::string> unused() const override { return unused_; }
  /// A line for what the model there makes of hidden states, which no recipe does; nothing if there is none.
  std::optional<std::string> note_of_other_heads() const;
  const Shape* find(const std::string& name) const override;
  std::optional<std::int64_t> rows_said(const std::string& name) const override;
  void check_copies() override;
  std::uint64_t identity() const override;
  void read(const std::string& name, std::int64_t first, View to) override;
  bool read_nf4(const std::string& name, const Nf4Matrix& to) override;
  void dequantize_nf4(const std::string& name, View to) override;
  std::string note_of_reading() const override;

 private:
  /// Element (row, col) is element base + row * row_stride + col * col_stride of the tensor there.
  struct Part {
    FolderTensors::Tensor in;
    DType dtype;
    Shape shape;
    std::int64_t base, row_stride, col_stride;
  };
  struct Weight {
    Shape shape;
    std::vector<Part> parts;  ///< one below the other
  };
  /// The name that the file has for one of a family's; nothing if it has none.
  std::optional<std::string> name_in_file(const std::string& name) const;
  void sort_out(const std::string& name, const RecipeProgram& recipe);
  std::string_view original_of(const std::string& name, bool tied_head) const;
  void note_read(std::size_t bytes);
  void add_projection(const PlacedTensor& placed);
  void take_shared_row(const FolderTensors::Tensor& tensor, std::int64_t width);
  void add_shared_row(std::int64_t first, View to);
  void add_parts(const PlacedTensor& placed, const FolderTensors::Tensor& tensor);
  void read_parts(const std::string& name, std::int64_t first, View to);
  void add_part(const std::string& name, const Part& part);
  void add_nf4(const PlacedTensor& placed, const BitsAndBytesMatrix& matrix, const FolderTensors::Tensor& tensor);
  void gather(const Part& part, std::int64_t first, std::int64_t n, std::byte* to) const;

  FolderModel model_;
  FolderTensors tensors_;
  std::optional<FolderTensors> of_projection_;
  std::map<std::string, Weight> weights_;
  std::map<std::string, BitsAndBytesMatrix> in_nf4_;
  ScaleChanges scale_changes_;
  DequantizedWeights numbers_;
  std::vector<std::string> unused_, of_other_heads_;
  std::vector<SecondCopy> copies_;
  std::vector<double> shared_row_;  ///< empty: nothing is added
  std::vector<std::byte> buffer_;
  HeldPages held_;
};

}  // namespace monomorph::train
