#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every option of hpl with every other of its kind, by hand: minutes for `panel`, and about half an
# hour for `communication` on two cores. Ends with 1 at the first set in which a run fails.
#
#   tests/programs/sweep.sh <hpl> panel|communication [how to start, as in: mpirun --bind-to none]
#
# panel           PFACT x RFACT x NBMIN {1,4,16} x NDIV {2,3}
# communication   BCAST x SWAP x DEPTH {0,1,2,5} x L1 x U x pivot reduction
#
# each over N in {1,17,64,193}, NB in {1,8,32} and the grids 1x1, 1x4, 4x1, 2x2, 2x3, 3x2 (6 ranks).
set -euo pipefail

hpl=$(realpath "$1")
kind=$2
shift 2
(($# > 0)) || set -- mpirun --bind-to none
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export OMP_NUM_THREADS=1
total=0

# set_of_runs <name> <option...>
set_of_runs() {
  local name=$1 passed
  shift
  "${start[@]}" -n 6 "$hpl" --n 1,17,64,193 --nb 1,8,32 --grid 1x1,1x4,4x1,2x2,2x3,3x2 "$@" \
    >out 2>err || {
    echo "FAILED: $name"
    tail -n 5 err
    grep -B 8 'FAILED$' out | head -n 40
    exit 1
  }
  passed=$(grep -c ' PASSED$' out)
  total=$((total + passed))
  echo "$name: $passed passed"
}

start=("$@")
case $kind in
  panel)
    set_of_runs "all panel options" --pfact left,crout,right --rfact left,crout,right \
      --nbmin 1,4,16 --ndiv 2,3
    ;;
  communication)
    for l1 in 1 0; do
      for u in 0 1; do
        for swap in binary long mix auto mpi; do
          for pivot in p2p collective hybrid; do
            set_of_runs "L1 $l1, U $u, SWAP $swap, pivot $pivot" --l1 $l1 --u $u --swap $swap \
              --swap-threshold 16 --pivot $pivot --depth 0,1,2,5 \
              --bcast 1ring,1ringM,2ring,2ringM,long,longM,bcast,ibcast
          done
        done
      done
    done
    ;;
  *)
    echo "panel or communication, not '$kind'" >&2
    exit 2
    ;;
esac
echo "$total runs, all passed"
