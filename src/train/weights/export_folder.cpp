#include "train/weights/export_folder.hpp"

#include "core/folder_files.hpp"
#include "core/new_files.hpp"
#include "train/weights/family.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/merged_weights.hpp"
#include "train/weights/sentence_modules.hpp"
#include "train/weights/stream_elements.hpp"
#include "train/weights/tensor_places.hpp"
#include "train/weights/written_numbers.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/files/safetensors.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <utility>

namespace monomorph::train {
namespace {

namespace fs = std::filesystem;

/// Gives the bytes of a family's tensors from those of a checkpoint.
class TensorStream {
 public:
  TensorStream(CheckpointWeights& weights, DType dtype) : weights_(weights), dtype_(dtype) {}

  const WrittenNumbers& written() const { return written_; }

  void give(const PlacedTensor& tensor, const runtime::ByteSink& sink) {
    if (tensor.parts.empty()) return give_zeros(tensor.elements(), sink);
    if (tensor.transposed) return give_transposed(tensor, sink);
    give_zeros(tensor.unused_rows * tensor.cols, sink);
    for (const PlacedPart& part : tensor.parts)
      stream_elements(weights_, part.name, part.first_row * part.shape.cols, part.shape.elements(), dtype_, written_,
                      sink);
  }

 private:
  void give_zeros(std::int64_t elements, const runtime::ByteSink& sink) const {
    in_bounded_pieces(elements, [&](std::int64_t, std::int64_t n) {
      sink(std::vector<std::byte>(static_cast<std::size_t>(n * size_of(dtype_))));
    });
  }
  /// Some columns of ours at a time, which are the rows there.
  void give_transposed(const PlacedTensor& tensor, const runtime::ByteSink& sink) {
    const std::int64_t at_a_time = std::max<std::int64_t>(1, elements_at_a_time / tensor.rows);
    for (std::int64_t first = 0; first < tensor.cols; first += at_a_time) {
      const std::int64_t n = std::min(at_a_time, tensor.cols - first);
      const View rows = sized(transposed_, dtype_, {n, tensor.rows});
      std::int64_t first_row = 0;
      for (const PlacedPart& part : tensor.parts) {
        const View columns = sized(read_, dtype_, {part.shape.rows, n});
        weights_.read_columns(part.name, first, columns);
        written_.count(part.name, columns, [&](View numbers) { weights_.read_columns(part.name, first, numbers); });
        transpose(columns, rows.columns(first_row, part.shape.rows));
        first_row += part.shape.rows;
      }
      sink(transposed_);
    }
  }

  void transpose(View from, View to) const {
    const std::int64_t width = size_of(dtype_);
    for (std::int64_t row = 0; row < to.shape.rows; ++row)
      for (std::int64_t col = 0; col < to.shape.cols; ++col)
        std::memcpy(to.data + (row * to.stride + col) * width, from.data + (col * from.stride + row) * width,
                    static_cast<std::size_t>(width));
  }

  CheckpointWeights& weights_;
  DType dtype_;
  std::vector<std::byte> read_, transposed_;
  WrittenNumbers written_;
};

std::vector<PlacedTensor> taken_out(std::vector<PlacedTensor>& tensors, bool PlacedTensor::*which) {
  const auto first = std::stable_partition(tensors.begin(), tensors.end(),
                                           [&](const PlacedTensor& tensor) { return !(tensor.*which); });
  std::vector<PlacedTensor> taken(std::make_move_iterator(first), std::make_move_iterator(tensors.end()));
  tensors.erase(first, tensors.end());
  return taken;
}

/// Which tensors lie in one file: in their order, as many as there is room for.
std::vector<std::vector<PlacedTensor>> divided(std::vector<PlacedTensor> tensors, const ExportOptions& options) {
  std::vector<std::vector<PlacedTensor>> files;
  std::int64_t n_bytes = 0;
  for (PlacedTensor& tensor : tensors) {
    const std::int64_t of_tensor = tensor.elements() * size_of(options.dtype);
    if (files.empty() || n_bytes + of_tensor > options.bytes_per_file) {
      files.emplace_back();
      n_bytes = 0;
    }
    n_bytes += of_tensor;
    files.back().push_back(std::move(tensor));
  }
  return files;
}

std::string file_name(std::size_t index, std::size_t n_files) {
  return n_files == 1 ? "model.safetensors" : fmt::format("model-{:05}-of-{:05}.safetensors", index + 1, n_files);
}

void write_file(const std::string& path, const std::vector<PlacedTensor>& tensors, TensorStream& stream, DType dtype) {
  std::vector<runtime::TensorToWrite> to_write;
  for (const PlacedTensor& tensor : tensors)
    to_write.push_back({.name = tensor.name,
                        .dtype = file_dtype(dtype),
                        .shape = tensor.file_shape(),
                        .give = [&](const runtime::ByteSink& sink) { stream.give(tensor, sink); }});
  runtime::write_safetensors(path, to_write, {{"format", "pt"}});
}

/// @return bytes of all tensors
std::int64_t write_weights(const std::string& folder, const std::vector<std::vector<PlacedTensor>>& files,
                           TensorStream& stream, DType dtype) {
  nlohmann::json weight_map = nlohmann::json::object();
  std::int64_t n_bytes = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::string name = file_name(i, files.size());
    write_file(folder + "/" + name, files[i], stream, dtype);
    for (const PlacedTensor& tensor : files[i]) {
      weight_map[tensor.name] = name;
      n_bytes += tensor.elements() * size_of(dtype);
    }
  }
  if (files.size() > 1)
    write_text_file(folder + "/model.safetensors.index.json",
                    nlohmann::json{{"metadata", {{"total_size", n_bytes}}}, {"weight_map", weight_map}}.dump(2) + "\n");
  return n_bytes;
}

/// What sentence-transformers is told of an encoder, and its projection.
/// @return bytes of the projection
std::int64_t write_sentence_modules(const std::string& folder, const PortableModel& portable,
                                    const std::vector<PlacedTensor>& projection, TensorStream& stream, DType dtype) {
  const SentenceModules modules{.embedding = *portable.embedding,
                                .projection = std::string(exported_projection),
                                .longest_text = portable.model.context_length};
  for (const auto& [name, value] : sentence_files(modules, portable.model.d_model)) {
    const std::string path = fmt::format("{}/{}", folder, name);
    create_folder(fs::path(path).parent_path().string());
    write_text_file(path, value.dump(2) + "\n");
  }
  if (projection.empty()) return 0;
  write_file(fmt::format("{}/{}/model.safetensors", folder, exported_projection), projection, stream, dtype);
  return projection.front().elements() * size_of(dtype);
}

/// @throws UsageError [WEIGHTS-06]
void check_holds_no_model(const std::string& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name == "config.json" || name == "modules.json" || name.ends_with(".safetensors") ||
        name.ends_with(".index.json"))
      throw UsageError("WEIGHTS-06", fmt::format("{} has a model already, to which {} belongs; name another folder",
                                                 in_quotes(folder), in_quotes(name)));
  }
}

/// The recipe's model as the family's files are to have it.
PortableModel model_to_write(const Family& family, const RecipeProgram& recipe, const ExportOptions& options) {
  PortableModel portable = portable_model(recipe);
  portable.unused_positions = family.base.unused_positions;
  const auto padding = options.special_tokens.find("pad_token_id");
  const bool is_told = padding != options.special_tokens.end() && padding->is_number_integer() && *padding >= 0 &&
                       *padding < recipe.model->vocab_size.value;  // it comes from a file of anybody's
  if (family.base.unused_positions > 0 && is_told) portable.unused_positions = padding->get<std::int64_t>() + 1;
  return portable;
}

std::string config_text(const Family& family, const PortableModel& portable, const ExportOptions& options) {
  const DType dtype = options.dtype;
  nlohmann::json config = config_of(family, portable);
  config["model_type"] = family.model_type;
  config["architectures"] = {family.architecture};
  config["torch_dtype"] = dtype == DType::bf16   ? "bfloat16"
                          : dtype == DType::fp16 ? "float16"
                          : dtype == DType::fp64 ? "float64"
                                                 : "float32";
  // What transformers takes where a file says nothing is the id of another vocabulary.
  for (const char* const key : {"bos_token_id", "eos_token_id"}) config[key] = nullptr;
  for (const auto& [key, value] : options.special_tokens.items())
    if (!value.is_null() || !config.contains(key)) config[key] = value;
  return config.dump(2) + "\n";
}

}  // namespace

std::string export_folder(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& folder,
                          const ExportOptions& options) {
  const Family& family = family_for(recipe, options.family);
  const PortableModel portable = model_to_write(family, recipe, options);
  std::vector<PlacedTensor> tensors = placed_tensors(family, recipe, portable.unused_positions);
  const std::vector<PlacedTensor> projection = taken_out(tensors, &PlacedTensor::is_projection);
  const auto files = divided(std::move(tensors), options);
  MergedWeights weights(checkpoint, recipe);
  NewFiles made(folder);
  check_holds_no_model(folder);
  TensorStream stream(weights, options.dtype);
  std::int64_t n_bytes = write_weights(made.place(), files, stream, options.dtype);
  if (portable.embedding) n_bytes += write_sentence_modules(made.place(), portable, projection, stream, options.dtype);
  options.write_companions(made.place());
  write_text_file(made.place() + "/config.json", config_text(family, portable, options));
  check_holds_no_model(folder);  // of another export, which has ended meanwhile
  made.keep("config.json");
  for (const std::string& line : stream.written().warnings(checkpoint)) options.warn(line);
  return fmt::format("{}: {} of {} weights in {}, as {}{}", folder, format_bytes(n_bytes), name_of(options.dtype),
                     files.size() == 1 ? "one file" : fmt::format("{} files", files.size()), family.architecture,
                     recipe.low_rank != nullptr ? ", adapters merged" : "");
}

}  // namespace monomorph::train
