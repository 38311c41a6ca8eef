# SPDX-License-Identifier: BSD-3-Clause
#
# For the *_test.sh here: bash and coreutils only.
#
#   X_test.sh <program> <folder> <start command...> -- [argument...]
#
# "<start command> 4 program" starts four ranks. The folder is emptied and becomes the current one.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
folder=$2
shift 2
start=()
while [ "$1" != -- ]; do
  start+=("$1")
  shift
done
shift
arguments=("$@")
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder" || exit 1

failures=0
limit=300  # seconds that one start of the program may take

fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# expect <what> <expected> <found>
expect() {
  [ "$2" = "$3" ] || fail "$1: expected '$2', found '$3'"
}

# run <ranks> [argument...]: sets `status` and leaves stdout in `out` and stderr in `err`.
run() {
  local ranks=$1
  shift
  timeout "$limit" "${start[@]}" "$ranks" "$program" "$@" > out 2> err
  status=$?
}

# The same where nobody says how many threads a rank has.
run_without_threads() {
  (unset OMP_NUM_THREADS OMP_THREAD_LIMIT OMP_DYNAMIC OMP_PLACES OMP_PROC_BIND \
    KOKKOS_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS &&
    run "$@" && exit "$status")
  status=$?
}

# expect_status <expected> <ranks> [argument...]
expect_status() {
  local expected=$1
  shift
  run "$@"
  [ "$status" = "$expected" ] && return
  fail "status of $*: expected $expected, found $status"
  cat out err
}

# rank_statuses <ranks> [argument...]: the exit status of every rank, on one line. Each rank is
# started through a shell that writes the status down and ends well, lest the others be killed.
rank_statuses() {
  local ranks=$1
  shift
  rm -rf statuses
  mkdir statuses
  timeout "$limit" "${start[@]}" "$ranks" bash -c \
    '"$@"; echo $? > "statuses/$$"' record "$program" "$@" > out 2> err ||
    { echo "the start ended with $?"; return; }
  cat statuses/* | tr '\n' ' ' | sed 's/ $//'
}

finish() {
  [ "$failures" -eq 0 ] && echo "all as expected" && exit 0
  echo "$failures failures"
  exit 1
}
