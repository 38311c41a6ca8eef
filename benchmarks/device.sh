#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Plinth on a GPU: builds for CUDA, runs what is offered there, and prints HPL's rate against that of
# a matrix product in the same run. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: benchmarks/device.sh --prefix DIR [option...]

  --prefix DIR         where Kokkos, built for CUDA, and Kokkos Kernels, with cuBLAS, are installed
  --build DIR          build folder (build/cuda)
  --n "N..."           sizes of the system ("20000 40000")
  --nb NB              block size (512)
  --rounds R           rounds of product and HPL in turn (3)

Needs one GPU. One rank: what LU does on the device, then for each size a product of the shape of an
update and hpl, in turn; medians, and the median of the ratios round by round.
END
}
fail() {
  printf 'device: %s\n' "$*" >&2
  exit 2
}

prefix= build=build/cuda sizes="20000 40000" nb=512 rounds=3
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) prefix=$2; shift 2 ;;
    --build) build=$2; shift 2 ;;
    --n) sizes=$2; shift 2 ;;
    --nb) nb=$2; shift 2 ;;
    --rounds) rounds=$2; shift 2 ;;
    --help) usage; exit 0 ;;
    *) fail "unknown option $1; --help lists them" ;;
  esac
done
[ -n "$prefix" ] || fail "--prefix is missing; --help says what it is"
cd "$(dirname "$0")/.."
command -v nvidia-smi > /dev/null || fail "there is no nvidia-smi: this needs a GPU"
nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader

cmake --preset cuda -B "$build" -DCMAKE_PREFIX_PATH="$prefix" > /dev/null
cmake --build "$build" --target device_compiles dgemm

start() { mpirun -n 1 --bind-to none "$@"; }
median() { sort -g | awk '{v[NR] = $1} END {print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2}'; }

start "$build/bin/on_device"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '%8s %12s %12s %8s\n' N "dgemm GF/s" "hpl GF/s" ratio
for n in $sizes; do
  : > "$work/dgemm"; : > "$work/hpl"; : > "$work/ratio"
  for ((round = 0; round < rounds; ++round)); do
    product=$(start "$build/bin/dgemm" "$((n < 24000 ? n : 24000))" "$nb" 5)
    start "$build/bin/hpl" --n "$n" --nb "$nb" --grid 1x1 \
      > "$work/report" || fail "hpl failed, and said: $(tail -3 "$work/report")"
    rate=$(awk '/^W[RC]/ {print $NF}' "$work/report")
    echo "$product" >> "$work/dgemm"
    awk -v r="$rate" 'BEGIN {print r + 0}' >> "$work/hpl"
    awk -v r="$rate" -v p="$product" 'BEGIN {print r / p}' >> "$work/ratio"
  done
  printf '%8d %12.1f %12.1f %8.3f\n' "$n" "$(median < "$work/dgemm")" "$(median < "$work/hpl")" \
    "$(median < "$work/ratio")"
done
