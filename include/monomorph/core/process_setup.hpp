#pragma once

namespace monomorph {

/// What every program does before anything else, so that the limits that it runs under end it with a line, and not by a
/// signal: opens those of the standard files that are closed, has a write beyond the limit of a file's size (ulimit -f)
/// fail, and sees that there is stack enough.
/// @throws UsageError [LIMIT-01] the hard limit of the stack is too low
void set_up_process();

}  // namespace monomorph
