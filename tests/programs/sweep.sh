#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Every option of hpl with every other of its kind. Ends with 1 at the first set in which a run
# does not pass.
#
#   tests/programs/sweep.sh <hpl> panel|communication|pairwise [--sample]
#                           [how to start, as in: mpirun --bind-to none]
#
# panel           PFACT x RFACT x NBMIN {1,4,16} x NDIV {2,3}
# communication   BCAST x SWAP x DEPTH {0,1,2,5} x L1 x U x pivot reduction
# pairwise        each value of every option with each value of every other one (pairwise.awk)
#
# The former two over N in {1,17,64,193}, NB in {1,8,32} and the grids 1x1, 1x4, 4x1, 2x2, 2x3,
# 3x2 (6 ranks), which takes minutes, and about half an hour. --sample: some of each, in seconds.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
hpl=$(realpath "$1")
kind=$2
shift 2
sample=no
if [[ ${1-} == --sample ]]; then
  sample=yes
  shift
fi
(($# > 0)) || set -- mpirun --bind-to none
start=("$@")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
# Threads that wait give their core away: there are more of them than cores.
export OMP_NUM_THREADS=1 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive
total=0

# set_of_runs <name> <option...>
set_of_runs() {
  local name=$1 passed wanted status=0
  shift
  "${start[@]}" -n 6 "$hpl" "$@" >out 2>err || status=$?
  passed=$(grep -c ' PASSED$' out || true)
  wanted=$(sed -n 's/^Runs: \([0-9]*\) on .*/\1/p' out)
  if ((status != 0)) || [[ $passed != "$wanted" ]]; then
    echo "FAILED: $name (status $status, $passed of ${wanted:-unknown} passed): $*"
    tail -n 5 err
    grep -B 8 'FAILED$' out | head -n 40 || true
    exit 1
  fi
  total=$((total + passed))
  echo "$name: $passed passed"
}

# The options of the pairwise cover and their values. Sizes: one element, less than a block, whole
# blocks, a rest; blocks of one column to one block for all.
cover_options() {
  cat <<'END'
--pfact left crout right
--rfact left crout right
--nbmin 1 4 16
--ndiv 2 3
--bcast 1ring 1ringM 2ring 2ringM long longM bcast ibcast
--swap binary long mix auto mpi
--swap-threshold 0 16 1000
--depth 0 1 2 5
--l1 transposed no-transposed
--u transposed no-transposed
--equil no yes
--align 1 8
--pmap row column
--pivot p2p collective hybrid
--split 0 0.3 0.7
--storage row column
--reproducible no yes
--n 1 17 64 193
--nb 1 8 32 200
--grid 1x1 1x4 4x1 2x2 2x3 3x2
--threads 1 2
--phases no yes steps
END
}

case $kind in
  panel)
    sizes=(--n 1,17,64,193 --nb 1,8,32 --grid 1x1,1x4,4x1,2x2,2x3,3x2)
    [[ $sample == no ]] || sizes=(--n 65 --nb 17 --grid 2x3)
    set_of_runs "all panel options" "${sizes[@]}" --pfact left,crout,right \
      --rfact left,crout,right --nbmin 1,4,16 --ndiv 2,3
    ;;
  communication)
    broadcasts=1ring,1ringM,2ring,2ringM,long,longM,bcast,ibcast
    sizes=(--n 1,17,64,193 --nb 1,8,32 --grid 1x1,1x4,4x1,2x2,2x3,3x2)
    [[ $sample == no ]] || sizes=(--n 64 --nb 8 --grid 3x2)
    count=0
    for l1 in 1 0; do
      for u in 0 1; do
        for swap in binary long mix auto mpi; do
          for pivot in p2p collective hybrid; do
            count=$((count + 1))
            [[ $sample == no ]] || ((count % 16 == 1)) || continue
            set_of_runs "L1 $l1, U $u, SWAP $swap, pivot $pivot" "${sizes[@]}" --l1 $l1 --u $u \
              --swap $swap --swap-threshold 16 --pivot $pivot --depth 0,1,2,5 \
              --bcast "$broadcasts"
          done
        done
      done
    done
    ;;
  pairwise)
    cover_options >options
    awk -f "$here/pairwise.awk" options >rows
    awk -f "$here/pairwise.awk" options rows
    # The last row is there for a pair that no other one has.
    if head -n -1 rows | awk -f "$here/pairwise.awk" options - 2>uncovered; then
      echo "FAILED: a cover without its last row is taken for one" >&2
      exit 1
    fi
    count=0
    while read -r -a row; do
      count=$((count + 1))
      [[ $sample == no ]] || ((count % 12 == 1)) || continue
      set_of_runs "row $count" "${row[@]}" </dev/null
    done <rows
    ;;
  *)
    echo "panel, communication or pairwise, not '$kind'" >&2
    exit 2
    ;;
esac
echo "$total runs, all passed"
