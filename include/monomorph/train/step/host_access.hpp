#pragma once
#include <monomorph/runtime/memory/host_copy.hpp>

namespace monomorph::train {

/// How the host reaches what the views of a step's or a model's tensors hold: as by the three functions of
/// runtime/memory/host_copy.hpp, on a queue that only the step or the model knows.
class HostAccess {
 public:
  virtual ~HostAccess() = default;
  virtual View download(View view, HostBuffer& buffer) const = 0;
  virtual View place_for_upload(View view, HostBuffer& buffer) const = 0;
  virtual void upload(View place, View view) = 0;
};

}  // namespace monomorph::train
