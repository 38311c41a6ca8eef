# SPDX-License-Identifier: BSD-3-Clause
#
# Bad input ends every rank with status 2, at once, and one message says what is wrong with what.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# expect_refusal <message> [argument...]: a pattern of the whole line.
expect_refusal() {
  local message=$1
  shift
  expect "statuses of the ranks of $*" "2 2 2 2" "$(rank_statuses 4 "$@")"
  expect "lines that say $message" 1 "$(grep -c "^$message\$" err)"
  expect "lines on stdout of $*" 0 "$(wc -l < out)"
}

# good: an HPL.dat that is right. with <line> <text>: the same with one line replaced.
good() {
  cat << 'END'
an input file
for the tests
HPL.out      output file
6            device
2            number of N
5 6          N
1            number of NB
2            NB
0            PMAP
2            number of grids
2 1          P
2 3          Q
16.0         threshold
1            number of PFACT
0            PFACT
1            number of NBMIN
2            NBMIN
1            number of NDIV
2            NDIV
1            number of RFACT
0            RFACT
1            number of BCAST
0            BCAST
1            number of DEPTH
0            DEPTH
2            SWAP
0            swapping threshold
0            L1
0            U
1            equilibration
8            alignment
END
}
with() { good | sed "$1s/.*/$2/"; }

good > good.dat
expect_status 0 4 -f good.dat --print-config

with 6 '5 x' > bad.dat
expect_refusal 'bad.dat:6:3: expected N, an integer .* (value 2 of 2), found .x.' -f bad.dat
with 5 '3' > bad.dat
expect_refusal 'bad.dat:6:14: expected N, .* (value 3 of 3), found .N.' -f bad.dat
with 5 '21' > bad.dat
expect_refusal 'bad.dat:5:1: expected the number of .*, found .21.' -f bad.dat
with 23 '6' > bad.dat
expect_refusal 'bad.dat:23:1: expected BCAST, one of .*, found .6.' -f bad.dat
with 11 '2 5' > bad.dat
expect_refusal 'bad.dat:11:3: expected P x Q of at most 4, .*, found 5 x 3 = 15' -f bad.dat
good | head -n 20 > bad.dat
expect_refusal 'bad.dat:21:1: expected RFACT, .*, found the end of the file' -f bad.dat
: > bad.dat
expect_refusal 'bad.dat:1:1: expected .*, found an empty file' -f bad.dat
head -c 5000 "$program" > bad.dat
expect_refusal 'bad.dat:1:1: expected text, found the byte 0x7F' -f bad.dat
expect_refusal 'none.dat:1:1: expected a text file, found no such file' -f none.dat
expect_refusal '.:1:1: expected a text file, found a directory' -f .
with 4 '8' | sed '3s/.*/no\/such\/folder/' > bad.dat
expect_refusal 'bad.dat:3:1: expected a file that can be written, .*' -f bad.dat
mkdir HPL.dat
expect_refusal 'HPL.dat:1:1: expected a text file, found a directory'
rmdir HPL.dat
if [ "$(id -u)" -ne 0 ]; then
  good > secret.dat
  chmod 000 secret.dat
  expect_refusal 'secret.dat:1:1: expected a text file, found Permission denied' -f secret.dat
fi

expect_refusal '--n: expected an integer .*, found .1e3.' --n 1e3
expect_refusal '--grid: expected P x Q of at most 4, .*, found 2 x 3 = 6' --grid 2x3
expect_refusal '--json: expected a file that can be written, .*' --json no/such/folder
expect_refusal '--threads: expected an integer from 1 to .*, found .0.' --threads 0
expect_refusal '--threads: expected no --kokkos-threads .*' --threads 2 --kokkos-threads=2
expect_refusal '--transport: expected staged or automatic .* without a device, found .direct.' \
  --transport direct
expect_refusal '--kokkos-threads: expected .*' --kokkos-threads=many
expect_refusal '.*unknown argument .--kokkos-nonsense=1.: .*' --n 5 --kokkos-nonsense=1
expect_refusal 'unknown argument .--nonsense.; .*' --nonsense

# What is ignored is named once, by one rank, and changes nothing.
{ with 6 '5\t\t6  7 8 N' | sed 's/$/\r/'; echo more; echo lines; } > odd.dat
expect_status 0 4 -f odd.dat --print-config
expect "ignored values" 1 "$(grep -c '^odd.dat:6:7: warning: .* 7 8$' err)"
expect "ignored lines" 1 "$(grep -c '^odd.dat:32:1: warning: .*' err)"

finish
