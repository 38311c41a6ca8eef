#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Plinth's hpl or hpl_mxp against another HPL with netlib's input and output (Plinth's hpl, for
# hpl_mxp), alternately, and both against matrix products on the same ranks and threads at the same
# time. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: benchmarks/compare_hpl.sh --xhpl PATH [option...]

Writes an HPL.dat for each program, runs A B A B ..., with a product on all ranks between the
rounds, and prints the rates, their medians and the median of the ratios pair by pair. Both
programs see the same environment: set there what the BLAS needs (OPENBLAS_CORETYPE, say), and let
nothing else run.

  --xhpl PATH          the other program: netlib's xhpl, or one that reads and prints the same
  --hpl PATH           Plinth's (build/release/bin/hpl)
  --options "ARG..."   further arguments of Plinth's, as in "--precision bf16" ('')
  --dgemm PATH         Plinth's benchmark of products (build/release/bin/gemm)
  --n N                size of the system (8000)
  --grid PxQ           process grid (1x2)
  --threads T          threads per rank (1)
  --rounds R           pairs of runs (5)
  --nb NB --depth D --bcast B          of Plinth's run (192, 1, 1)
  --pfact F --rfact F --nbmin M --ndiv V    likewise, codes of HPL.dat (0, 2, 8, 2)
  --xnb NB --xdepth D --xbcast B       of the other's (192, 0, 1)
  --xpfact F --xrfact F --xnbmin M --xndiv V  likewise (2, 2, 4, 2)
  --xbest "NB,DEPTH NB,DEPTH ..."      first runs the other once with each of these, and then
                       compares with the fastest
  --mpirun "CMD"       how to start (mpirun --bind-to core; with more threads than one, or more
                       ranks than CPUs, mpirun --bind-to none)
END
}
fail() {
  printf 'compare_hpl: %s\n' "$*" >&2
  exit 2
}

declare -A o=([hpl]=build/release/bin/hpl [dgemm]=build/release/bin/gemm [n]=8000 [grid]=1x2
  [threads]=1 [rounds]=5 [nb]=192 [depth]=1 [bcast]=1 [pfact]=0 [rfact]=2 [nbmin]=8 [ndiv]=2
  [xnb]=192 [xdepth]=0 [xbcast]=1 [xpfact]=2 [xrfact]=2 [xnbmin]=4 [xndiv]=2 [xbest]='' [xhpl]='' [options]=''
  [mpirun]='')
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
for program in xhpl hpl dgemm; do
  [[ -n ${o[$program]} ]] || fail "--$program is missing; see --help"
  [[ -x ${o[$program]} && ! -d ${o[$program]} ]] || fail "--$program: '${o[$program]}' is not a program"
  o[$program]=$(realpath "${o[$program]}")
done
[[ ${o[grid]} =~ ^([1-9][0-9]*)x([1-9][0-9]*)$ ]] || fail "--grid: PxQ expected, not '${o[grid]}'"
p=${BASH_REMATCH[1]} q=${BASH_REMATCH[2]}
for number in n threads rounds nb depth xnb xdepth; do
  [[ ${o[$number]} =~ ^[0-9]+$ ]] || fail "--$number: a number expected, not '${o[$number]}'"
done
if [[ -z ${o[mpirun]} ]]; then
  bind=core
  ((o[threads] == 1 && p * q <= $(nproc))) || bind=none
  o[mpirun]="mpirun --bind-to $bind"
fi
read -ra launch <<<"${o[mpirun]}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export OMP_NUM_THREADS=${o[threads]}

# write_dat <folder> <nb> <depth> <bcast> <pfact> <rfact> <nbmin> <ndiv>
write_dat() {
  mkdir -p "$1"
  cat >"$1/HPL.dat" <<END
comparison
comparison
HPL.out  output file
6        device
1        number of N
${o[n]}  N
1        number of NB
$2       NB
0        PMAP
1        number of grids
$p       P
$q       Q
16.0     threshold
1        number of PFACT
$5       PFACT
1        number of NBMIN
$7       NBMIN
1        number of NDIV
$8       NDIV
1        number of RFACT
$6       RFACT
1        number of BCAST
$4       BCAST
1        number of DEPTH
$3       DEPTH
2        SWAP
64       threshold
0        L1
0        U
1        EQUIL
8        ALIGN
END
}

read -ra options <<<"${o[options]}"

# rate <program> <folder> [argument...]: GF/s of one run, which must have passed.
rate() {
  (cd "$2" && "${launch[@]}" -n $((p * q)) "$1" "${@:3}" >out 2>err) ||
    fail "a run of $1 failed: $(tail -n 3 "$2/err" "$2/out")"
  grep -q ' PASSED$' "$2/out" || fail "a run of $1 did not pass: $(tail -n 15 "$2/out")"
  awk '/^W[RC]/ {print $NF + 0}' "$2/out"
}
product() {
  local rate
  rate=$("${launch[@]}" -n $((p * q)) "${o[dgemm]}" 3840 "${o[nb]}" 3) || fail "the product failed"
  [[ $rate =~ ^[0-9.]+$ ]] || fail "a rate of the product expected, not '$rate'"
  echo "$rate"
}
median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

if [[ -n ${o[xbest]} ]]; then
  best=0
  for candidate in ${o[xbest]}; do
    write_dat "$scratch/x" "${candidate%,*}" "${candidate#*,}" "${o[xbcast]}" "${o[xpfact]}" \
      "${o[xrfact]}" "${o[xnbmin]}" "${o[xndiv]}"
    found=$(rate "${o[xhpl]}" "$scratch/x")
    printf 'other, NB %s, depth %s: %.1f GF/s\n' "${candidate%,*}" "${candidate#*,}" "$found"
    if awk "BEGIN {exit !($found > $best)}"; then
      best=$found
      o[xnb]=${candidate%,*}
      o[xdepth]=${candidate#*,}
    fi
  done
fi
write_dat "$scratch/a" "${o[nb]}" "${o[depth]}" "${o[bcast]}" "${o[pfact]}" "${o[rfact]}" \
  "${o[nbmin]}" "${o[ndiv]}"
write_dat "$scratch/b" "${o[xnb]}" "${o[xdepth]}" "${o[xbcast]}" "${o[xpfact]}" "${o[xrfact]}" \
  "${o[xnbmin]}" "${o[xndiv]}"

printf 'N %s, grid %s, %s thread(s) per rank; Plinth NB %s depth %s, other NB %s depth %s\n' \
  "${o[n]}" "${o[grid]}" "${o[threads]}" "${o[nb]}" "${o[depth]}" "${o[xnb]}" "${o[xdepth]}"
printf '%6s %9s %9s %9s %9s %9s %9s\n' round plinth other dgemm ratio p/dgemm o/dgemm
for ((round = 1; round <= o[rounds]; ++round)); do
  a=$(rate "${o[hpl]}" "$scratch/a" "${options[@]}")
  d=$(product)
  b=$(rate "${o[xhpl]}" "$scratch/b")
  echo "$a $b $d" | awk -v r=$round \
    '{printf "%6d %9.1f %9.1f %9.1f %9.3f %9.3f %9.3f\n", r, $1, $2, $3, $1/$2, $1/$3, $2/$3}' |
    tee -a "$scratch/table"
done
printf '%6s' median
for column in 2 3 4 5 6 7; do
  awk -v c=$column '{print $c}' "$scratch/table" | median |
    awk -v c=$column '{printf (c < 5 ? " %9.1f" : " %9.3f"), $1}'
done
printf '\n'
