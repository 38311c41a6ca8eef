# SPDX-License-Identifier: BSD-3-Clause
#
# netlib_input_test.sh ... -- <file>: the combinations of netlib's own HPL.dat, 864 runs on four
# ranks, all of which pass.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

limit=600
expect_status 0 4 -f "${arguments[0]}"
awk -f "$here/parse_output.awk" out > runs || fail "the output is not netlib's"
expect "runs" 864 "$(wc -l < runs)"
expect "passed" 864 "$(grep -c 'PASSED$' runs)"

finish
