#pragma once
#include <cstdint>
#include <monomorph/train/step/host_access.hpp>

namespace monomorph::train {

/// How the host reads and writes the tensors of a step, or of a model: where they lie, or, if the device has a memory
/// of its own, piece by piece in one buffer of at most plan::host_staging_bytes.
class HostPieces {
 public:
  explicit HostPieces(HostAccess& tensors) : tensors_(tensors) {}
  HostPieces(const HostPieces&) = delete;

  /// Some elements of a tensor that follow each other.
  struct Piece {
    View view{};  ///< one row, for the host to read until the next piece is asked for
    std::int64_t first = 0;
    bool holds(std::int64_t element) const { return first <= element && element < first + view.elements(); }
  };
  /// The piece of a tensor's view in which an element lies.
  const Piece& around(const View& tensor, std::int64_t element) {
    if (tensor.data != shown_of_ || !shown_.holds(element)) show(tensor, element);
    return shown_;
  }
  /// Calls f with the pieces of a tensor's view, one after the other.
  void read(const View& tensor, auto&& f) {
    for (std::int64_t first = 0; first < tensor.elements(); first += shown_.view.elements()) f(around(tensor, first));
  }
  /// Calls f with memory for each piece of a tensor's view, which f is to fill, and brings what it has written there.
  void write(const View& tensor, auto&& f) {
    for (std::int64_t first = 0; first < tensor.elements();) {
      const View part = part_from(tensor, first);
      const Piece piece{place_for(part), first};
      f(piece);
      tensors_.upload(piece.view, part);
      first += part.elements();
    }
  }
  /// All of it at a time.   @param copy gets it, if the device has a memory of its own
  View whole(const View& tensor, HostBuffer& copy) const { return tensors_.download(tensor, copy); }

  /// The elements of a tensor from one on that fit into the buffer, where they lie: one row.
  static View part_from(const View& tensor, std::int64_t first);

 private:
  void show(const View& tensor, std::int64_t element);
  View place_for(const View& part);

  HostAccess& tensors_;
  HostBuffer buffer_;
  const std::byte* shown_of_ = nullptr;  ///< where the tensor begins of which a piece is shown
  Piece shown_;
};

}  // namespace monomorph::train
