#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Plinth on a GPU: builds for CUDA, runs what is offered there, and prints the rates of HPL and
# HPL-MxP against those of matrix products in the same run. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: benchmarks/device.sh --prefix DIR [option...]

  --prefix DIR         where Kokkos, built for CUDA, and Kokkos Kernels, with cuBLAS, are installed
  --build DIR          build folder (build/cuda)
  --bin DIR            programs that are there (gemm, hpl, hpl_mxp, on_device): nothing is built
  --n "N..."           sizes of the system ("20000 40000")
  --nb NB              block size (512)
  --precision "P..."   of hpl_mxp, as it names them ("fp32 fp16 bf16"); "" leaves it out
  --hpl "OPTION..."    more options for hpl ("--depth 1": panels behind updates)
  --hpl-mxp "..."      more options for hpl_mxp ("--depth 1")
  --rounds R           rounds, all programs in turn (3)

Needs one GPU. One rank: what LU does on the device, then for each size and precision a product of
the shape of an update, hpl and hpl_mxp, in turn. Prints medians of GF/s, and of the ratios round by
round: of the program's own precision's product, and of hpl.
END
}
fail() {
  printf 'device: %s\n' "$*" >&2
  exit 2
}

prefix="" build=build/cuda bin="" sizes="20000 40000" nb=512 rounds=3
precisions="fp32 fp16 bf16" hpl_options="--depth 1" mxp_options="--depth 1"
while [ $# -gt 0 ]; do
  [ "$1" = --help ] || [ $# -gt 1 ] || fail "$1 wants a value; --help lists the options"
  case $1 in
    --prefix) prefix=$2 ;;
    --build) build=$2 ;;
    --bin) bin=$2 ;;
    --n) sizes=$2 ;;
    --nb) nb=$2 ;;
    --precision) precisions=$2 ;;
    --hpl) hpl_options=$2 ;;
    --hpl-mxp) mxp_options=$2 ;;
    --rounds) rounds=$2 ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option $1; --help lists them" ;;
  esac
  shift 2
done
[ -n "$bin$prefix" ] || fail "--prefix is missing; --help says what it is"
if [ -z "$bin" ]; then
  cd "$(dirname "$0")/.."
  command -v nvidia-smi > /dev/null || fail "there is no nvidia-smi: this needs a GPU"
  nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
  cmake --preset cuda -B "$build" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
  cmake --build "$build" --target device_compiles gemm
  bin=$build/bin
fi
for program in gemm hpl hpl_mxp on_device; do
  [ -x "$bin/$program" ] || fail "there is no program $bin/$program"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
start() { mpirun -n 1 --bind-to none "$@"; }
median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN {print a / b}'; }
# rate_of <program> <option>...: the GF/s that it reports.
rate_of() {
  local program=$1
  shift
  start "$bin/$program" --nb "$nb" --grid 1x1 "$@" > "$work/report" ||
    fail "$program $* failed, and said: $(tail -3 "$work/report")"
  awk '/^W[RC]/ {rate = $NF} END {print rate + 0}' "$work/report"
}

start "$bin/on_device"
# Two ranks share the device, so that messages are sent, too.
mpirun -n 2 --bind-to none "$bin/on_device" --kokkos-device-id=0

row='%8s %-8s %10s %12s %11s %8s\n'
# shellcheck disable=SC2059 # the table's format
printf "$row" N precision GF/s "product GF/s" "of product" "of hpl"
for n in $sizes; do
  rm -f "$work"/*.rate "$work"/*.product "$work"/*.share "$work"/*.of_hpl
  for ((round = 0; round < rounds; ++round)); do
    hpl=""
    for precision in fp64 $precisions; do
      product=$(start "$bin/gemm" "$((n < 24000 ? n : 24000))" "$nb" 5 "$precision") ||
        fail "the product in $precision failed"
      [[ $product =~ ^[0-9.]+$ ]] || fail "a rate of the product expected, not '$product'"
      if [ "$precision" = fp64 ]; then
        # shellcheck disable=SC2086 # options are words
        rate=$(rate_of hpl --n "$n" $hpl_options)
        hpl=$rate
      else
        # shellcheck disable=SC2086
        rate=$(rate_of hpl_mxp --n "$n" --precision "$precision" $mxp_options)
      fi
      echo "$rate" >> "$work/$precision.rate"
      echo "$product" >> "$work/$precision.product"
      ratio "$rate" "$product" >> "$work/$precision.share"
      ratio "$rate" "$hpl" >> "$work/$precision.of_hpl"
    done
  done
  for precision in fp64 $precisions; do
    # shellcheck disable=SC2059
    printf "$row" "$n" "$precision" "$(median < "$work/$precision.rate")" \
      "$(median < "$work/$precision.product")" "$(median < "$work/$precision.share")" \
      "$(median < "$work/$precision.of_hpl")"
  done
done
