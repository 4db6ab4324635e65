// Broken on purpose, to test the harness: rejected as expected, but the first thing that is said is not a rule's.
// expect-error: no rule
// expect-error: \[X-01\] a rule
static_assert(NEGATIVE == 0, "no rule of ours");
static_assert(NEGATIVE == 0, "[X-01] a rule");
