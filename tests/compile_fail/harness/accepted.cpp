// Broken on purpose, to test the harness: it compiles either way.
// expect-error: \[X-01\] never said
static_assert(true, "[X-01] never said");
