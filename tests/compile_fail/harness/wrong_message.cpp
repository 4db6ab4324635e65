// Broken on purpose, to test the harness: rejected, but with another message.
// expect-error: \[X-01\] what the file hopes for
static_assert(NEGATIVE == 0, "[X-02] what the compiler says");
