# SPDX-License-Identifier: BSD-3-Clause
#
# The exit status of a program on each way to its end. For scripted_program, which passes at N = 1,
# fails at 2, skips at 3, throws on every rank at 4 and on one rank at 5, and finds NaN at 6.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

expect_status 0 4 --n 1,1
expect_status 1 4 --n 1,2
expect_status 3 4 --n 1,3
expect_status 1 4 --n 3,2,1
expect_status 4 4 --n 1,4
expect_status 1 4 --n 2,4
expect_status 4 4 --n 1,5
expect_status 1 4 --n 6
expect_status 0 4 --n 2,6 --threshold 0
expect_status 0 4 --help
expect_status 0 4 --version
expect_status 0 4 --print-config
expect_status 2 4 --bcast ring

for n in 1 2 3 4; do
  case $n in 1) s=0 ;; 2) s=1 ;; *) s=$n ;; esac
  expect "statuses of the ranks at N = $n" "$s $s $s $s" "$(rank_statuses 4 --n $n)"
done

# An error on every rank is told once; what was done before it is in the report.
run 4 --n 1,4 --json report.json
expect "lines of the error" 1 "$(grep -c 'as told' err)"
expect "results before the error" 1 "$(grep -c '^WR' out)"

# Norms of what is no number, and the line of a skipped run.
run 4 --n 6,3
expect "lines of norms" 6 "$(grep -c '^||.*  *\(=\) *[0-9a-z.]*$' out)"
expect "lines of skipped runs" 1 "$(grep -c '^Skipped .* N=3 .*: as told$' out)"

# A report that cannot be written out.
if [ -c /dev/full ]; then
  expect_status 4 2 --n 1 --output /dev/full
  expect_status 4 2 --n 1 --json /dev/full
fi

# Reports to where they were wanted.
expect_status 0 2 --n 1 --output report.txt --json report.json
expect "lines on stdout" 0 "$(wc -l < out)"
expect "results in the file" 1 "$(grep -c '^WR' report.txt)"
expect "runs in the JSON file" 1 "$(grep -c '"verdict":"passed"' report.json)"
expect_status 0 2 --n 1 --output stderr
expect "results on stderr" 1 "$(grep -c '^WR' err)"

finish
