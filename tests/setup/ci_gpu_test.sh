# Without nvcc, the script that builds the preset gpu says so in one line, changes nothing and ends with 77.
set -euo pipefail
status=0
said=$(CUDACXX=no-such-compiler "$1/tools/ci/gpu" 2>&1) || status=$?
echo "$said"
[ "$status" = 77 ]
[ "$(wc -l <<<"$said")" = 1 ]
grep -q 'CI-05.*no-such-compiler' <<<"$said"
