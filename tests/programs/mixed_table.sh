#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The table of outcomes of hpl_mxp: matrix x precision x refinement, each on the grids 1x1, 1x2, 2x2
# and 2x3 with ragged N and NB, and what has to come of it. Ends with 1 if anything else comes.
#
#   tests/programs/mixed_table.sh <hpl_mxp> [how to start, as in: mpirun --bind-to none]
#
# Expected: `pass`, every run passes; `fail`, every run fails its residual and none is skipped.
#   gmres      passes everywhere, with a condition number of 1e16 too, but for bfloat16 there
#   classical  passes where the condition number is far below the precision's, else stalls
#   none       fails everywhere: 16 bits, and 32 as well, are no solution
set -euo pipefail

program=$(realpath "$1")
shift
(($# > 0)) || set -- mpirun --bind-to none
start=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
wrong=0

# expect <pass|fail> <option...>
expect() {
  local want=$1 status=0 passed failed
  shift
  "${start[@]}" -n 6 "$program" --grid 1x1,1x2,2x2,2x3 "$@" >out 2>err || status=$?
  passed=$(grep -c ' PASSED$' out || true)
  failed=$(grep -c ' FAILED$' out || true)
  if { [ "$want" = pass ] && [ "$status" = 0 ] && [ "$passed" -gt 0 ]; } ||
    { [ "$want" = fail ] && [ "$status" = 1 ] && [ "$passed" = 0 ] && ! grep -q ^Skipped out; }; then
    printf 'as expected: %-4s  %s\n' "$want" "$*"
    return
  fi
  printf 'NOT AS EXPECTED: %-4s  %s: status %s, %s passed, %s failed\n' "$want" "$*" "$status" \
    "$passed" "$failed"
  grep -E '^W[RC]|^Refinement|^Residuals|FAILED$|^Skipped' out | head -n 12
  head -n 3 err
  wrong=1
}

sizes=(--n 65,200 --nb 24 --depth 0,1)
sixteen=(fp16 bf16 fp32-fp16)
for matrix in scaled-diagonal dominant-reference dominant-openmxp; do
  for precision in "${sixteen[@]}" fp16-fast fp32; do
    expect pass "${sizes[@]}" --matrix $matrix --precision "$precision" --refine gmres
    expect pass "${sizes[@]}" --matrix $matrix --precision "$precision" --refine classical
    expect fail "${sizes[@]}" --matrix $matrix --precision "$precision" --refine none
  done
done

# Condition numbers 1/sqrt(u), 0.1/u and 10/u for each precision, and 2: one of 1, the identity's, is
# refused.
hard=(--n 130,400 --nb 24 --matrix fasi-higham)
for row in "fp16 45 205 20480" "fp32-fp16 45 205 20480" "bf16 16 26 2560" "fp32 4096 1.7e6 1.7e8"; do
  read -r precision root below beyond <<<"$row"
  for kappa in $root $below $beyond; do
    expect pass "${hard[@]}" --kappa "$kappa" --precision "$precision" --refine gmres
    expect fail "${hard[@]}" --kappa "$kappa" --precision "$precision" --refine none
  done
  expect pass "${hard[@]}" --kappa 2 --precision "$precision" --refine gmres
  expect pass "${hard[@]}" --kappa 2 --precision "$precision" --refine classical
  expect fail "${hard[@]}" --kappa 2 --precision "$precision" --refine none
  expect pass "${hard[@]}" --kappa "$root" --precision "$precision" --refine classical
done

# The case that tells GMRES from classical refinement.
expect pass "${hard[@]}" --kappa 1e16 --precision fp16 --refine gmres
expect fail "${hard[@]}" --kappa 1e16 --precision fp16 --refine classical
expect fail "${hard[@]}" --kappa 1e16 --precision fp16 --refine none
exit $wrong
