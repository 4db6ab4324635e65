#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/runtime/files/safetensors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace monomorph::runtime {

SafetensorsFile::SafetensorsFile(MappedFile file)
    : file_(std::move(file)),
      header_(parse_safetensors(file_.bytes(), file_.path())),
      by_name_(header_.tensors.size()) {
  const auto name = [this](std::size_t index) -> const std::string& { return header_.tensors[index].name; };
  std::iota(by_name_.begin(), by_name_.end(), std::size_t{0});
  std::ranges::sort(by_name_, {}, name);
  const auto twice = std::ranges::adjacent_find(by_name_, {}, name);
  if (twice != by_name_.end()) {
    throw Error("SAFETENSORS-07", fmt::format("{}: two tensors are named {}; export the file again",
                                              in_quotes(file_.path()), in_quotes(name(*twice))));
  }
}

const TensorEntry* SafetensorsFile::find(std::string_view name) const {
  const auto found =
      std::lower_bound(by_name_.begin(), by_name_.end(), name, [this](std::size_t index, std::string_view wanted) {
        return header_.tensors[index].name < wanted;
      });
  if (found == by_name_.end() || header_.tensors[*found].name != name) return nullptr;
  return &header_.tensors[*found];
}

const TensorEntry& SafetensorsFile::at(std::string_view name) const {
  const TensorEntry* const entry = find(name);
  if (entry == nullptr) {
    throw Error("SAFETENSORS-09", fmt::format("{} has no tensor {} among its {}; is it the file of another model?",
                                              in_quotes(path()), in_quotes(name), tensors().size()));
  }
  return *entry;
}

}  // namespace monomorph::runtime
