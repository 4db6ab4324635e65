#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace monomorph::train {

struct Family;  // train/weights/family.hpp

/// The options of `import`: a run folder with a checkpoint of a Hugging Face model's weights, and peft's adapters.
struct ImportOptions {
  std::string folder, output, adapter;
  void add_to(CLI::App& app);
};
int run_import(const RecipeProgram& recipe, const ImportOptions& options);

/// The options of `export`: a checkpoint's weights as a Hugging Face model, its adapters as peft has them, or a file
/// for llama.cpp.
struct ExportCommandOptions {
  std::string checkpoint, output, gguf;
  DType dtype = DType::fp32;
  std::int64_t megabytes_per_file = 5000;
  bool adapter = false;
  const Family* family = nullptr;
  void add_to(CLI::App& app);
};
int run_export(const RecipeProgram& recipe, const ExportCommandOptions& options);

}  // namespace monomorph::train
