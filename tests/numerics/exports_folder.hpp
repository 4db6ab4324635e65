#pragma once
#include "support/temporary_folder.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::testing {

/// What a test exports. It stays in the folder that the environment variable MONOMORPH_EXPORTS names, if there is one:
/// tests/end_to_end/transformers/load_exports.py loads it there.
class ExportsFolder {
 public:
  explicit ExportsFolder(const std::string& name) {
    if (const char* const kept = std::getenv("MONOMORPH_EXPORTS"))
      path_ = std::string(kept) + "/" + name;
    else
      path_ = temporary_.emplace().path();
    std::filesystem::create_directories(path_);
  }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

  /// What ours makes of the fixture's batch.
  void keep_outputs(const std::string& name, const Values& outputs) const {
    runtime::write_safetensors(*this / (name + ".safetensors"),
                               {{{.name = name,
                                  .dtype = runtime::FileDType::f64,
                                  .shape = {static_cast<std::int64_t>(outputs.size())},
                                  .data = reinterpret_cast<const std::byte*>(outputs.data())}}},
                               {});
  }

 private:
  std::optional<TemporaryFolder> temporary_;
  std::string path_;
};

}  // namespace monomorph::testing
