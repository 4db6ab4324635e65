// Broken on purpose, to test the harness: rejected even as the positive control.
// expect-error: \[X-01\] always
static_assert(NEGATIVE == 2, "[X-01] always");
