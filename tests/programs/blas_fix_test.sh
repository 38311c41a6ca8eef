# SPDX-License-Identifier: BSD-3-Clause
#
# A BLAS with a lesser kernel than the CPU allows: the program starts itself again, once, unless the
# user has chosen. The first argument is a library that plays such a BLAS.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fake=${arguments[0]}
unset OPENBLAS_CORETYPE
# Only the ranks are to see the library, so each is started through env.
inner=$program
with_fake() {
  program=env
  run 2 LD_PRELOAD="$fake" "$@"
  program=$inner
}

with_fake "$inner" --n 50 --grid 1x2
expect "status after starting again" 0 "$status"
expect "passed runs" 1 "$(grep -c ' PASSED$' out)"
if grep -q 'BLAS: .*kernel Prescott' out; then
  echo "this CPU has nothing better to offer: skipped"
  exit 0
fi
expect "sentences about it" 1 \
  "$(grep -c '^Note: the BLAS chose its kernel Prescott .* started itself again' out)"
expect "lines of the new kernel" 1 "$(grep -Ec '^BLAS: .*kernel (SkylakeX|Haswell|Sandybridge)' out)"

with_fake "$inner" --n 50 --grid 1x2 --no-blas-fix
expect "status with --no-blas-fix" 0 "$status"
expect "kernel with --no-blas-fix" 1 "$(grep -c '^BLAS: .*kernel Prescott' out)"
expect "sentences about --no-blas-fix" 1 "$(grep -c '^Note: .* and --no-blas-fix was given' out)"

with_fake OPENBLAS_CORETYPE=Nehalem "$inner" --n 50 --grid 1x2
expect "status with a choice of the user's" 0 "$status"
expect "kernel of the user's choice" 1 "$(grep -c '^BLAS: .*kernel Nehalem' out)"
expect "sentences about the choice" 1 "$(grep -c '^Note: .* as OPENBLAS_CORETYPE in the env' out)"

finish
