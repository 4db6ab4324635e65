#pragma once
#include <monomorph/recipe/members.hpp>

namespace monomorph {

template <class Queue> struct TensorsOn;        // model/block_tensors.hpp
template <class Queue> struct DecodeTensorsOn;  // model/decode_tensors.hpp

/// What blocks of recipe R may touch, with the queue of its device, which their kernels take first.
template <class R> using TensorsOf = TensorsOn<typename device_of<R>::Queue>;
template <class R> using DecodeTensorsOf = DecodeTensorsOn<typename device_of<R>::Queue>;

}  // namespace monomorph
