# SPDX-License-Identifier: BSD-3-Clause
#
# The exit status of a program on each way to its end. For scripted_program, which passes at N = 1,
# fails at 2, skips at 3, throws on every rank at 4 and on one rank at 5, and finds NaN at 6.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

for case in "1 0" "2 1" "3 3" "4 4"; do
  read -r n s <<< "$case"
  expect "statuses of the ranks at N = $n" "$s $s $s $s" "$(rank_statuses 4 --n "$n")"
done

# Of several, the lowest that is not 0.
expect_status 1 4 --n 3,2,1
expect_status 1 4 --n 2,4
expect_status 0 4 --n 2,6 --threshold 0
expect_status 0 4 --help

# An error on every rank is told once, after what was done before it.
expect_status 4 4 --n 1,4
expect "lines of the error" 1 "$(grep -c 'as told' err)"
expect "results before the error" 1 "$(grep -c '^WR' out)"

# An error on one rank, while the others wait for it, ends all.
expect_status 4 4 --n 1,5
expect "lines of the error" 1 "$(grep -c '^rank 1: as told' err)"

# What is no number fails, with its norms; a skipped run says why.
expect_status 1 4 --n 6,3
expect "failures" 1 "$(grep -c '^||.*N)= *nan ...... FAILED$' out)"
expect "lines of norms" 6 "$(grep -c '^||.* = *[0-9a-z.]*$' out)"
expect "lines of skipped runs" 1 "$(grep -c '^Skipped .* N=3 .*: as told$' out)"

# A report that cannot be written out.
if [ -c /dev/full ]; then
  for option in --output --json; do
    expect_status 4 2 --n 1 $option /dev/full
    expect "complaints on $option" 1 "$(grep -c "could not be written to '/dev/full'$" err)"
  done
fi

# Reports to where they were wanted.
expect_status 0 2 --n 1 --output report.txt --json report.json
expect "lines on stdout" 0 "$(wc -l < out)"
expect "results in the file" 1 "$(grep -c '^WR' report.txt)"
expect "runs in the JSON file" 1 "$(grep -c '"verdict":"passed"' report.json)"
expect_status 0 2 --n 1 --output stderr
expect "results on stderr" 1 "$(grep -c '^WR' err)"

finish
