#pragma once

namespace monomorph {

/// In whose memory lies what ranks exchange. A program for GPUs has one rank so far (RANK-25), and exchanges nothing.
enum class Device { cpu, gpu };

}  // namespace monomorph
