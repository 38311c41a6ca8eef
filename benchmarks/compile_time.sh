#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How long the compiler takes for a program that includes plinth.hpp and calls solve<double>, and
# how much memory: benchmarks/compile_time.sh [build folder] [repetitions]
#
# Compiles with -O2 and the flags that the build folder has for Kokkos, MPI and the BLAS, and
# prints the median of the seconds and the peak memory of solve in one type (whose limits are 25 s
# and 1.5 GB: beyond, the status is 1) and, for comparison, in two. Let nothing else run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${1:-build/release}
repetitions=${2:-3}
commands=$build/compile_commands.json
[[ -f $commands ]] || {
  echo "compile_time: $commands is not there; configure with CMAKE_EXPORT_COMPILE_COMMANDS=ON" >&2
  exit 2
}
# The include folders and definitions of the README's program.
flags=$(grep -o '"command": ".*first_system[^"]*' "$commands" | head -n 1 |
  grep -oE -- '(-isystem|-I|-D) ?[^ ]+|-fopenmp' | tr '\n' ' ')
[[ -n $flags ]] || {
  echo "compile_time: $commands does not name first_system" >&2
  exit 2
}
gnu_time=$(type -P time) || {
  echo "compile_time: GNU time is not installed (Debian: apt install time)" >&2
  exit 2
}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/program.cpp" <<'END'
#include <plinth/plinth.hpp>

plinth::SolveReport solve(const plinth::DistributedMatrix<double>& a,
                          const plinth::DistributedMatrix<double>& b,
                          plinth::DistributedMatrix<double>& x);
plinth::SolveReport solve(const plinth::DistributedMatrix<double>& a,
                          const plinth::DistributedMatrix<double>& b,
                          plinth::DistributedMatrix<double>& x) {
  return plinth::solve<PRECISION>(plinth::HostExecution<>(), a, b, x);
}
END
compiler=${CXX:-g++}
"$compiler" --version | head -n 1
printf '%-24s %9s %9s\n' program 'seconds' 'peak MB'
status=0

# measure NAME CODE [FLAG...]: the program with these flags; CODE 'limit' if the limits hold for it.
measure() {
  local name=$1 limited=$2 repetition
  shift 2
  : >"$folder/times"
  for ((repetition = 0; repetition < repetitions; ++repetition)); do
    # shellcheck disable=SC2086
    "$gnu_time" -a -o "$folder/times" -f '%e %M' "$compiler" -std=c++20 -O2 $flags "$@" \
      -c "$folder/program.cpp" -o "$folder/program.o"
  done
  local median peak
  median=$(sort -n "$folder/times" | awk '{t[NR] = $1} END {print t[int((NR + 1) / 2)]}')
  peak=$(awk '$2 > m {m = $2} END {printf "%.0f", m * 1.024 / 1000}' "$folder/times")
  printf '%-24s %9s %9s\n' "$name" "$median" "$peak"
  if [[ $limited == limit ]] && awk "BEGIN {exit !($median > 25 || $peak > 1500)}"; then
    status=1
  fi
}

measure 'solve<double>' limit '-DPRECISION=plinth::Uniform<double>'
measure 'solve<DoubleSingle>' no '-DPRECISION=plinth::DoubleSingle'
measure 'solve<DoubleHalf>' no '-DPRECISION=plinth::DoubleHalf'
exit $status
