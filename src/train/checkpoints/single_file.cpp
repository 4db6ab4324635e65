#include <monomorph/train/checkpoints/single_file.hpp>

#include "pickled_tensors.hpp"
#include "tensor_pieces.hpp"
#include "train/weights/averaged_name.hpp"
#include "weights_for_use.hpp"
#include "zip_archive.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace monomorph::train {
namespace {

namespace fs = std::filesystem;

/// A tensor of the file, and the one of the checkpoint that it is.
struct NamedTensor {
  std::string name, source;
};

std::vector<NamedTensor> tensors_to_write(const runtime::CheckpointReader& checkpoint, TensorsToWrite which) {
  std::vector<NamedTensor> tensors;
  if (which == TensorsToWrite::all)
    for (const std::string& name : checkpoint.names()) tensors.push_back({name, name});
  else
    for (const std::string& name : weight_names(checkpoint)) tensors.push_back({name, name_for_use(checkpoint, name)});
  return tensors;
}

std::uint64_t byte_size(const runtime::CheckpointReader::Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.n_elements) * runtime::bytes_per_element(tensor.dtype);
}

/// Gives the bytes of a tensor in their order, a bounded number at a time.
void give_tensor(runtime::CheckpointReader& checkpoint, const std::string& name, const runtime::ByteSink& sink) {
  std::vector<std::byte> bytes;
  for_each_piece(checkpoint.find(name)->n_elements, [&](std::int64_t first, std::int64_t n) {
    read_piece(checkpoint, name, first, n, bytes);
    sink(bytes);
  });
}

WrittenFile written(const runtime::CheckpointReader& checkpoint, TensorsToWrite which,
                    const std::vector<NamedTensor>& tensors) {
  if (which == TensorsToWrite::weights && has_average(checkpoint))
    write_error_line("note: the weights are their moving average, which the optimiser kept");
  WrittenFile file{.n_tensors = std::ssize(tensors)};
  for (const NamedTensor& tensor : tensors) file.n_bytes += byte_size(*checkpoint.find(tensor.source));
  return file;
}

/// The path with what of it exists resolved, and no trailing separator.
fs::path resolved(const std::string& path) {
  std::error_code ignored;  // what can't be resolved will say why when it is opened
  const fs::path place = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  return place.has_filename() ? place : place.parent_path();
}

bool lies_in(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

std::vector<std::string> weight_names(const runtime::CheckpointReader& checkpoint) {
  std::vector<std::string> names = checkpoint.names();
  std::erase_if(names, [&](const std::string& name) {
    const std::size_t dot = name.find('.');
    return dot != std::string::npos && checkpoint.find(name.substr(dot + 1)) != nullptr;
  });
  return names;
}

bool has_average(const runtime::CheckpointReader& checkpoint) {
  return std::ranges::any_of(weight_names(checkpoint),
                             [&](const std::string& name) { return name_for_use(checkpoint, name) != name; });
}

WrittenFile write_consolidated(runtime::CheckpointReader& checkpoint, TensorsToWrite which, const std::string& path) {
  const std::vector<NamedTensor> names = tensors_to_write(checkpoint, which);
  std::vector<runtime::TensorToWrite> tensors;
  for (const NamedTensor& named : names) {
    const runtime::CheckpointReader::Tensor& tensor = *checkpoint.find(named.source);
    tensors.push_back(
        {.name = named.name, .dtype = tensor.dtype, .shape = tensor.shape, .give = [&](const runtime::ByteSink& sink) {
           give_tensor(checkpoint, named.source, sink);
         }});
  }
  const runtime::CheckpointMetadata& metadata = checkpoint.metadata();
  runtime::write_safetensors(path, tensors,
                             {{"format", "pt"},  // without it some readers refuse the file
                              {"monomorph.step", fmt::format("{}", metadata.step)},
                              {"monomorph.fingerprint", metadata.fingerprint}});
  return written(checkpoint, which, names);
}

WrittenFile write_torch_file(runtime::CheckpointReader& checkpoint, TensorsToWrite which, const std::string& path) {
  const std::vector<NamedTensor> names = tensors_to_write(checkpoint, which);
  std::vector<PickledTensor> tensors;
  for (const auto& [name, source] : names)
    tensors.push_back({name, checkpoint.find(source)->dtype, checkpoint.find(source)->shape});
  AtomicFile file(path);
  ZipArchive archive([&](std::span<const std::byte> bytes) { file.write(bytes); });
  const auto add_text = [&](std::string_view name, std::string_view text) {
    archive.add(name, text.size(), [&](const runtime::ByteSink& sink) { sink(std::as_bytes(std::span(text))); });
  };
  add_text("checkpoint/data.pkl", pickled(tensors));
  add_text("checkpoint/byteorder", "little");
  for (std::size_t i = 0; i < names.size(); ++i)
    archive.add(fmt::format("checkpoint/data/{}", i), byte_size(*checkpoint.find(names[i].source)),
                [&](const runtime::ByteSink& sink) { give_tensor(checkpoint, names[i].source, sink); });
  add_text("checkpoint/version", "3\n");
  archive.finish();
  file.commit();
  return written(checkpoint, which, names);
}

void check_output(const std::string& output, const std::vector<std::string>& checkpoints) {
  const fs::path place = resolved(output);
  for (const std::string& checkpoint : checkpoints)
    if (lies_in(place, resolved(checkpoint)))
      throw UsageError("CHECKPOINT-31", fmt::format("{} lies in the checkpoint {}, which must stay as it is; name a "
                                                    "place outside it",
                                                    in_quotes(output), in_quotes(checkpoint)));
  std::error_code ignored;
  const fs::file_status status = fs::symlink_status(place, ignored);
  if (fs::exists(status) && !fs::is_fifo(status) && !fs::is_character_file(status))
    throw UsageError("CHECKPOINT-30", fmt::format("{} exists; name another output, or delete it", in_quotes(output)));
}

}  // namespace monomorph::train
