#pragma once
#include <monomorph/train/report/append_file.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace monomorph::train {

/// CRC-32C (Castagnoli) of RFC 3720, appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

using Scalar = std::pair<std::string_view, double>;

/// A TensorBoard event file: scalars only, one record per step.
class EventWriter {
 public:
  /// Begins `events.out.tfevents.<seconds>.<host>.<process>.<counter>` in an existing folder.
  /// @param first_step of a resumed run: TensorBoard then drops what older files of the folder say of this step and
  /// later ones
  /// @throws Error [FILE-01], [FILE-03]
  explicit EventWriter(const std::string& directory, std::optional<std::int64_t> first_step = std::nullopt);

  /// Appends scalars under tags such as "train/loss", rounded to float, and hands them to the system.
  /// @throws Error [FILE-02] the disk is full, [FILE-03]
  void write(std::int64_t step, std::span<const Scalar> scalars);
  void write(std::int64_t step, std::initializer_list<Scalar> scalars) { write(step, std::span(scalars)); }

  const std::string& path() const { return file_.path(); }

 private:
  AppendFile file_;
};

}  // namespace monomorph::train
