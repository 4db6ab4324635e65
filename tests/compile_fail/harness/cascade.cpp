// Broken on purpose, to test the harness: two errors where one is expected.
// expect-error: \[X-01\] the first
static_assert(NEGATIVE == 0, "[X-01] the first; with a list");
static_assert(NEGATIVE == 0, "[X-02] the second, array[2]");
