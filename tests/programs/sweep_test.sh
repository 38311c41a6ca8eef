# SPDX-License-Identifier: BSD-3-Clause
#
# A sample of each of the sweeps over the options of hpl.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The sweeps say themselves how many ranks they want: the start command without its last word.
unset 'start[${#start[@]}-1]'
for kind in panel communication pairwise; do
  timeout "$limit" bash "$here/sweep.sh" "$program" "$kind" --sample "${start[@]}" > "$kind" 2>&1
  expect "status of $kind" 0 $?
  expect "summary of $kind" 1 "$(grep -c '^[0-9]* runs, all passed$' "$kind")"
  grep -h 'FAILED' -A 40 "$kind"
done
expect "runs of panel" "54 runs, all passed" "$(tail -n 1 panel)"
expect "runs of communication" "128 runs, all passed" "$(tail -n 1 communication)"

# A run that does not pass ends a sweep.
cat > failing << 'END'
#!/bin/sh
exec "$PLINTH_TEST_HPL" "$@" --threshold 1e-300
END
chmod +x failing
PLINTH_TEST_HPL=$program bash "$here/sweep.sh" ./failing panel --sample "${start[@]}" > failed 2>&1
expect "status of a sweep with a failure" 1 $?
expect "reports of a failure" 1 "$(grep -c '^FAILED: all panel options ' failed)"

finish
