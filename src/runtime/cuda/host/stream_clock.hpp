#pragma once
#include <monomorph/runtime/machine/stream_clock.hpp>

#include <memory>

namespace monomorph::cuda {

/// Of the streams of this process's GPU: events that take times. A stream must not be captured into a graph meanwhile,
/// as what a graph runs takes none.
std::unique_ptr<StreamClock> stream_clock();

}  // namespace monomorph::cuda
