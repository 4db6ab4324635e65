#pragma once

namespace monomorph::data {

/// What the weights of several sets are in proportion to: how many samples are drawn from a set, or how often each of
/// its tokens is.
enum class WeightBy { sample, token };

}  // namespace monomorph::data
