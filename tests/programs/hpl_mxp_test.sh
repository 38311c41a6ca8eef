# SPDX-License-Identifier: BSD-3-Clause
#
# hpl_mxp from its command line to its output: a sample of the table of outcomes (all of it:
# mixed_table.sh), what it prints, what it refuses, and how much memory it takes.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# verdicts <expected status> <passed> <failed> [argument...]: on four grids at once.
verdicts() {
  local status=$1 passed=$2 failed=$3
  shift 3
  expect_status "$status" 6 --grid 1x1,1x2,2x2,2x3 "$@"
  expect "passed runs of $*" "$passed" "$(grep -c ' PASSED$' out)"
  expect "failed runs of $*" "$failed" "$(grep -c ' FAILED$' out)"
}

# What solves, and that nothing does without refinement.
ragged="--n 65,130 --nb 24"
for precision in fp16 bf16 fp32; do
  # shellcheck disable=SC2086 # several words
  verdicts 0 8 0 $ragged --precision $precision
done
for precision in fp16 fp16-fast bf16 fp32-fp16; do
  # shellcheck disable=SC2086
  verdicts 1 0 8 $ragged --precision $precision --refine none
done
for matrix in dominant-reference dominant-openmxp fasi-higham; do
  # shellcheck disable=SC2086
  verdicts 1 0 8 $ragged --precision fp16 --refine none --matrix $matrix
done
verdicts 0 4 0 --n 130 --nb 24 --precision fp16-fast --matrix dominant-openmxp --refine classical

# The case that tells GMRES from classical refinement.
hard="--n 400 --nb 24 --matrix fasi-higham --kappa 1e16 --precision fp16"
# shellcheck disable=SC2086
verdicts 0 4 0 $hard --refine gmres
# shellcheck disable=SC2086
verdicts 1 0 4 $hard --refine classical
stall="stagnated\|iteration limit\|non-finite"
expect "stalls" 4 "$(grep -c "^Refinement .* classical: \($stall\)" out)"
verdicts 1 0 4 --n 400 --nb 24 --matrix fasi-higham --kappa 1e16 --precision bf16 --refine classical
verdicts 0 8 0 --n 130,400 --nb 24 --matrix fasi-higham --kappa 2 --precision bf16 --refine classical

# Matrices whose residual low precision alone would meet do not pass without refinement, in any
# precision: of the smallest orders, with factors that 16 bits hold exactly.
for precision in fp16 fp16-fast bf16 fp32 fp32-fp16; do
  verdicts 1 0 12 --n 0,1,2 --nb 2 --refine none --precision $precision
done
expect "what such runs are told" 4 "$(grep -c '^Failed: without refinement no run passes' out)"
# Nor do they without a check.
expect_status 1 2 --n 2,100 --refine none --threshold 0 --json unchecked.json
expect "what such runs are told" 2 "$(grep -c '^Failed: without refinement no run passes$' out)"
expect "residuals" 0 "$(grep -c '^||Ax-b||' out)"
awk -f "$here/parse_output.awk" out > runs || fail "the output is not netlib's"
expect "runs in the JSON report" 2 "$(grep -c '"verdict":"failed"' unchecked.json)"
expect_status 0 2 --n 100 --threshold 0
# With this condition number alpha = beta = 1/2.
exact="--n 12 --nb 4 --matrix fasi-higham --rho 1 --kappa 60608.2 --precision fp16"
# shellcheck disable=SC2086
verdicts 1 0 4 $exact --refine none
# shellcheck disable=SC2086
verdicts 0 4 0 $exact
expect "easy matrices" 4 "$(grep -c '^Residuals .*(the LU alone passes' out)"
# A condition number that no matrix of the order has.
expect_status 3 4 --n 5,10 --nb 4 --grid 2x2 --matrix fasi-higham --precision fp16 --refine none
expect "reasons" 2 "$(grep -c '^Skipped .* no fasi-higham matrix of order' out)"
expect_status 3 4 --n 0,1,30 --nb 24 --rho 1e-6 --matrix fasi-higham --kappa 1e16 --precision fp16
expect "reasons" 1 "$(grep -c '^Skipped .* no fasi-higham matrix of order 1 ' out)"
expect "runs" 2 "$(grep -c ' PASSED$' out)"

# Any N, and the smallest; the output is netlib's, with lines of its own.
expect_status 0 4 --n 0,1,2,17 --nb 8,80 --grid 2x2,1x3 --depth 0,2 --bcast 0,4 --json all.json \
  --precision fp16
awk -f "$here/parse_output.awk" out > runs || fail "the output is not netlib's"
expect "runs" 64 "$(wc -l < runs)"
expect "runs in the JSON report" 64 "$(grep -c '"verdict":"passed"' all.json)"
expect "N" "0 1 17 2" "$(cut -d ' ' -f 2 runs | sort -u | tr '\n' ' ' | sed 's/ $//')"
for what in Precision Filling LU Refinement Residuals Rounding Memory; do
  expect "lines of $what" 64 "$(grep -c "^$what *: " out)"
done
expect "the note on what has no meaning" 1 "$(grep -c '^Note: .*SWAP.* mean nothing' out)"
expect_status 0 2 --n 200 --grid 1x2 --compare-fp64 --phases yes --json fp64.json
expect "FP64" 1 "$(grep -c '^FP64 .* PASSED; speed-up [0-9.]*$' out)"
expect "FP64 in the JSON report" 1 "$(grep -c '"fp64":{"verdict":"passed"' fp64.json)"
expect "the precision that was chosen" 1 \
  "$(grep -c '^Note: the precision is .* instead of the auto' out)"
expect_status 1 1 --n 300 --nb 32 --precision fp16 --compare-fp64 --threshold 0.001 --json wrong.json
expect "FP64 that failed" 1 "$(grep -c '^FP64 .* FAILED, and so this run counts as failed$' out)"
expect "speed-ups over a wrong run" 0 "$(grep -c 'speedup' wrong.json)"
expect_status 1 1 --n 300 --nb 32 --precision fp16 --refine none --compare-fp64 --json wrong.json
expect "FP64 beside a run that failed" 1 "$(grep -c '^FP64 .* PASSED; no speed-up' out)"
expect "the same in the JSON report" 1 \
  "$(grep -c '"fp64":{"verdict":"passed","seconds"' wrong.json)"
expect_status 0 1 --n 50 --precision fp32 --json single.json
expect "growth that is not measured" 0 "$(grep -c '"growth"' single.json)"

# What 16 bits cannot hold, unless it is scaled; what nothing holds.
expect_status 3 2 --n 4400 --grid 1x2 --precision fp16 --sigma 1000 --scaling no
expect "reasons" 1 "$(grep -c '^Skipped .* 4400 entries .* beyond the range' out)"
expect_status 0 2 --n 4400 --grid 1x2 --precision fp16 --sigma 1000
expect_status 3 2 --n 2147483647 --nb 256

# Matrices that LU without pivoting lets grow beyond FP16's range where they are scaled high: the
# scale leaves room where sigma says so, else a lower one follows an overflow.
for sigma in 0 0.05 0.1 0.2; do
  expect_status 0 2 --n 500 --nb 64 --grid 1x2 --precision fp16 --sigma $sigma
  expect_status 0 2 --n 500 --nb 64 --grid 1x2 --sigma $sigma
  expect "the precision for a matrix that grows" 1 "$(grep -c '^Precision *: fp32,' out)"
done
run 2 --n 500 --nb 64 --grid 1x2 --precision fp16-fast --sigma 0.1
expect "what is no number" 0 "$(grep -c nan out)"
expect_status 0 2 --n 14,18 --nb 1 --grid 1x2 --precision fp16 --sigma 0.3 --json lower.json
expect "LUs after an overflow" 2 "$(grep -c ' scaled by 2^-3 after 2^13 overflowed$' out)"
expect "the same in the JSON report" 2 "$(grep -c '"overflowed_exponent":13' lower.json)"
# A zero pivot, sigma sqrt(N) being the opposite of the first entry, is no overflow.
for precision in fp16 fp16-fast bf16 fp32 fp32-fp16; do
  expect_status 3 2 --n 64 --nb 8 --grid 1x2 --precision $precision --sigma 6.449930242208302e-06
  expect "zero pivots" 1 "$(grep -c '^Skipped .* the pivot of column 1 is zero$' out)"
done
# What overflows all the same says so, and where: a first pivot of 2^-21.
expect_status 1 2 --n 64 --nb 1 --grid 1x2 --precision fp16 --sigma 6.509534886983692e-06
expect "reasons" 1 "$(grep -c '^Failed: the LU overflowed, first in column [0-9]*$' out)"

# Alignments for which there is no memory, or no number: the runs after them take place.
expect_status 3 2 --n 300 --nb 32 --grid 1x2 --precision fp16 --align 400000000
expect "reasons" 1 "$(grep -c '^Skipped .*: not enough memory' out)"
for precision in fp16 fp32; do
  expect_status 3 2 --n 300,301 --nb 32 --grid 1x2 --precision $precision --align 2147483647
  expect "reasons" 2 "$(grep -c '^Skipped .*: lines of the matrix' out)"
done

# What differs from what was asked for: scaling where FP16 does not hold the matrix, sums in FP16
# where the CPU has none.
for precision in bf16 fp32 fp32-fp16; do
  expect_status 0 1 --n 50 --precision $precision
  expect "notes on scaling" 1 "$(grep -c '^Note: the scaling is no instead of the yes' out)"
done
expect_status 0 1 --n 50 --precision fp16-fast
in_half=$(grep -c '^Precision *: fp16-fast, .*sums in FP16' out)
as_fp16=$(grep -c '^Note: the precision is fp16 instead of the fp16-fast' out)
expect "fp16-fast, or a note" 1 $((in_half + as_fp16))
expect "notes on scaling" 0 "$(grep -c '^Note: the scaling' out)"
expect "sums in FP16" "$(grep -c -m 1 avx512_fp16 /proc/cpuinfo)" "$in_half"

# refused <message> [argument...]
refused() {
  local message=$1
  shift
  expect_status 2 2 "$@"
  expect "lines that say $message" 1 "$(grep -c "^$message\$" err)"
}
refused '--matrix: expected one of 0 (scaled-diagonal), .*, found .hilbert.' --matrix hilbert
refused '--precision: expected one of 0 (fp16), .* 5 (auto), found .fp8.' --precision fp8
refused '--refine: expected one of 0 (gmres), 1 (classical), 2 (none), found .more.' --refine more
refused '--refine: expected one value, found 2' --refine gmres,none
refused '--sigma: expected a finite number, found .x.' --sigma x
refused '--kappa: expected a number from 2 to 1e18, found .1.' --matrix fasi-higham --kappa 1
refused '--sigma: expected a number from -1000 to 1000, found .1152921504606846976.' \
  --sigma 1152921504606846976
refused '--rho: expected a number from 1e-6 to 1, found .2.' --matrix fasi-higham --rho 2
refused '--sigma: expected --matrix scaled-diagonal with it, found fasi-higham' \
  --matrix fasi-higham --sigma 2
refused '--kappa: expected --matrix fasi-higham with it, found scaled-diagonal' --kappa 2
refused '--precision: expected one of .*, found .fp16-fast.' --matrix fasi-higham \
  --precision fp16-fast
refused 'unknown argument .--split.; .*' --split 0.3

# Memory: 2 N^2 + 4 NB 2 N + 2 (d + 2) NB 2 N + 8 (restart + 4) 2 N + 64 MiB on one rank. A copy of
# the matrix in FP64 alone would take twice that.
n=4000 nb=128 depth=1
expect_status 0 1 --n 600,$n --nb $nb --depth $depth --precision fp16 --json memory.json
used=$(grep -o '"memory":[0-9.]*' memory.json | tail -n 1 | cut -d : -f 2 | cut -d . -f 1)
bound=$((2 * n * n + 8 * nb * n + 4 * (depth + 2) * nb * n + 16 * 54 * n + 64 * 1048576))
[ "$used" -gt $((2 * n * n)) ] && [ "$used" -le $bound ] || fail "memory: $used bytes of $bound"

finish
