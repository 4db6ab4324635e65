// Broken on purpose, to test the harness: a line of expectations was joined to the one before, where nothing reads it.
// expect-error: \[X-01\] the
// first expect-text: nowhere
static_assert(NEGATIVE == 0, "[X-01] the first");
