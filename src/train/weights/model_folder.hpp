#pragma once
#include "train/weights/family.hpp"
#include "train/weights/sentence_modules.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What the config.json of a folder of Hugging Face's says of its model, and what stands beside it for
/// sentence-transformers.
struct FolderModel {
  std::string folder;
  const Family* family = nullptr;
  PortableModel portable;
  ModelFacts training{};                      ///< training_facts()
  std::optional<SentenceModules> sentence{};  ///< of an encoder that sentence-transformers knows
};

/// Whether there is a config.json.   @throws as path_in
bool is_model_folder(const std::string& path);

/// @throws UsageError [WEIGHTS-02] the folder has none, or one of a kind of model that Monomorph does not know;
///   [WEIGHTS-03] it is not the JSON that it must be; [WEIGHTS-04]; [FILE-01] and following; as
///   read_sentence_modules
/// @param masked_head whether the head for masked tokens is looked for, of a family that has models with it
FolderModel read_folder_model(const std::string& folder, bool masked_head = false);

/// The tensors of a folder's safetensors files, one or many with an index. Nothing outside of the folder is read: the
/// files of an index must lie in it, and what its links may lead to core/folder_files.hpp says.
class FolderTensors {
 public:
  struct Tensor {
    const runtime::SafetensorsFile* file;
    const runtime::TensorEntry* entry;
  };

  /// @param subfolder in which the files lie; empty: in the folder itself
  /// @throws UsageError [WEIGHTS-05] there are none, or the index is not as it must be; as path_in and
  ///   runtime::SafetensorsFile
  explicit FolderTensors(const std::string& folder, const std::string& subfolder = "");
  FolderTensors(FolderTensors&&) = default;

  const Tensor* find(const std::string& name) const;  ///< null if there is none of that name
  const std::map<std::string, Tensor>& all() const { return tensors_; }
  void release() const noexcept;  ///< takes what has been read out of this program's memory
  /// A number that differs where the tensors do: of their names, their dtypes, their shapes, and the bytes that each
  /// begins and ends with, so that little is read.
  std::uint64_t identity() const;

 private:
  std::string path_of(std::string_view file) const;
  void add_file(const std::string& path);
  void add_files_of(const std::string& index);

  std::string folder_, within_;  ///< what stands before a file's name in the folder
  std::vector<std::unique_ptr<runtime::SafetensorsFile>> files_;
  std::map<std::string, Tensor> tensors_;
};

}  // namespace monomorph::train
