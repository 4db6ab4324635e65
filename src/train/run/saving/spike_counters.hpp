#pragma once

namespace monomorph::train {

/// The counters by which a checkpoint of a run that watches for spikes has what it knows of them.
struct MomentCounters {
  const char *count, *mean, *variance;
};
inline constexpr MomentCounters spike_loss_counters{"spike_loss_count", "spike_loss_mean", "spike_loss_variance"};
inline constexpr MomentCounters spike_norm_counters{"spike_norm_count", "spike_norm_mean", "spike_norm_variance"};
inline constexpr const char* rewinds_counter = "rewinds";

}  // namespace monomorph::train
