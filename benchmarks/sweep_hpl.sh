#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# hpl with each combination of NB, process grid, look-ahead depth and broadcast, against matrix
# products on the same ranks and threads. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: benchmarks/sweep_hpl.sh [option...]

Runs every combination once, then all of them again, round by round, so that what disturbs the
machine for a while disturbs all alike; a product on all ranks goes before each run. Prints the
median rate of each combination and the median of its shares of the product's rate, the fastest
first. Each value may be a list, separated by commas. Let nothing else run.

  --hpl PATH           the program (build/release/bin/hpl)
  --dgemm PATH         the benchmark of products (build/release/bin/gemm)
  --n N                size of the system (8000)
  --nb NB,...          orders of the blocks (128,192,256)
  --grid PxQ,...       process grids, all of as many ranks (1x2,2x1)
  --depth D,...        look-ahead depths (0,1)
  --bcast NAME,...     broadcasts (1ringM)
  --threads T          threads per rank (1)
  --rounds R           runs of each combination (3)
  --options "..."      more options, for every run: --pfact crout --nbmin 8
  --mpirun "CMD"       how to start (mpirun --bind-to none)
END
}
fail() {
  printf 'sweep_hpl: %s\n' "$*" >&2
  exit 2
}

declare -A o=([hpl]=build/release/bin/hpl [dgemm]=build/release/bin/gemm [n]=8000
  [nb]='128,192,256' [grid]='1x2,2x1' [depth]='0,1' [bcast]=1ringM [threads]=1 [rounds]=3
  [options]='' [mpirun]='mpirun --bind-to none')
while (($# > 0)); do
  case $1 in
    -h | --help)
      usage
      exit 0
      ;;
    --*)
      key=${1#--}
      [[ -v o[$key] ]] || fail "unknown option '$1'; see --help"
      (($# > 1)) || fail "$1 needs a value"
      o[$key]=$2
      shift 2
      ;;
    *) fail "unknown argument '$1'; see --help" ;;
  esac
done
for program in hpl dgemm; do
  [[ -x ${o[$program]} && ! -d ${o[$program]} ]] ||
    fail "--$program: '${o[$program]}' is not a program"
  o[$program]=$(realpath "${o[$program]}")
done
for number in n threads rounds; do
  [[ ${o[$number]} =~ ^[1-9][0-9]*$ ]] || fail "--$number: a number expected, not '${o[$number]}'"
done
ranks=0
for grid in ${o[grid]//,/ }; do
  [[ $grid =~ ^([1-9][0-9]*)x([1-9][0-9]*)$ ]] || fail "--grid: PxQ expected, not '$grid'"
  size=$((BASH_REMATCH[1] * BASH_REMATCH[2]))
  ((ranks == 0 || ranks == size)) || fail "--grid: grids of as many ranks each, not '${o[grid]}'"
  ranks=$size
done
read -ra launch <<<"${o[mpirun]}"
read -ra options <<<"${o[options]}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" # there is no HPL.dat here
export OMP_NUM_THREADS=${o[threads]}

# one <nb> <grid> <depth> <broadcast>: a line for the table of runs.
one() {
  local product rate
  product=$("${launch[@]}" -n "$ranks" "${o[dgemm]}" 3840 "$1" 3) || fail "the product failed"
  [[ $product =~ ^[0-9.]+$ ]] || fail "a rate of the product expected, not '$product'"
  "${launch[@]}" -n "$ranks" "${o[hpl]}" --n "${o[n]}" --nb "$1" --grid "$2" --depth "$3" \
    --bcast "$4" --threads "${o[threads]}" "${options[@]}" >out 2>err ||
    fail "a run failed: $(tail -n 3 err out)"
  grep -q ' PASSED$' out || fail "a run did not pass: $(tail -n 15 out)"
  rate=$(awk '/^W[RC]/ {print $NF + 0}' out)
  echo "$1 $2 $3 $4 $rate $product" >>runs
}

printf 'N %s, %s ranks of %s thread(s), %s round(s)\n' "${o[n]}" "$ranks" "${o[threads]}" \
  "${o[rounds]}"
for ((round = 1; round <= o[rounds]; ++round)); do
  for nb in ${o[nb]//,/ }; do
    for grid in ${o[grid]//,/ }; do
      for depth in ${o[depth]//,/ }; do
        for bcast in ${o[bcast]//,/ }; do
          one "$nb" "$grid" "$depth" "$bcast"
        done
      done
    done
  done
done

printf '%6s %8s %6s %8s %9s %9s %9s %9s\n' NB grid depth bcast GF/s lowest highest of_dgemm
awk '
  function insert(list, count, x,   i) {
    for (i = count; i > 1 && list[i - 1] > x; --i) list[i] = list[i - 1]
    list[i] = x
  }
  function median(list, count) {
    return (list[int((count + 1) / 2)] + list[int(count / 2) + 1]) / 2
  }
  { key = $1 " " $2 " " $3 " " $4; ++count[key]; rate[key, count[key]] = $5
    share[key, count[key]] = $5 / $6 }
  END {
    for (key in count) {
      n = count[key]
      for (i = 1; i <= n; ++i) {
        insert(r, i, rate[key, i])
        insert(s, i, share[key, i])
      }
      split(key, part, " ")
      printf "%6d %8s %6d %8s %9.1f %9.1f %9.1f %9.3f\n", part[1], part[2], part[3], part[4],
        median(r, n), r[1], r[n], median(s, n)
    }
  }' runs | sort -k 5,5gr -k 1,1n
