# SPDX-License-Identifier: BSD-3-Clause
#
# A pairwise cover: few rows of options in which every value of each option meets every value of
# every other one. Greedy and without chance: the same rows each time.
#
#   awk -f pairwise.awk <options>           prints the rows, one a line: --n 17 --nb 8 ...
#   awk -f pairwise.awk <options> <rows>    exits with 1, and names a pair, if one is in no row
#
# A line of <options> is an option and its values: --nb 1 8 32
#
# Each row begins with a pair that is still to be covered and takes, option by option, the value
# that covers most of such pairs with what the row has already.

# Lines of the first file.
FNR == NR {
  if (NF < 2) next
  name[++options] = $1
  for (i = 2; i <= NF; ++i) value[options, i - 1] = $i
  count[options] = NF - 1
  next
}

# Lines of the second: rows to be looked at.
{
  for (i = 1; i < NF; i += 2) given[$i] = $(i + 1)
  for (a = 1; a <= options; ++a)
    for (b = a + 1; b <= options; ++b) seen[a, given[name[a]], b, given[name[b]]] = 1
}

function verify(  a, b, i, j) {
  for (a = 1; a <= options; ++a)
    for (b = a + 1; b <= options; ++b)
      for (i = 1; i <= count[a]; ++i)
        for (j = 1; j <= count[b]; ++j)
          if (!((a, value[a, i], b, value[b, j]) in seen)) {
            print "no row has " name[a] " " value[a, i] " with " name[b] " " value[b, j] \
              > "/dev/stderr"
            exit 1
          }
}

# Whether value i of option a has met value j of option b.
function met(a, i, b, j) { return a < b ? ((a, i, b, j) in done) : ((b, j, a, i) in done) }

# How many pairs value i of option a would cover with the options that the row has.
function gain(a, i,  b, sum) {
  for (b = 1; b <= options; ++b)
    if (b != a && row[b] && !met(a, i, b, row[b])) ++sum
  return sum + 0
}

# The best value of option a for the row; of equals the one that has been used least.
function choose(a,  i, g, best, most) {
  most = -1
  for (i = 1; i <= count[a]; ++i) {
    g = gain(a, i)
    if (g > most || (g == most && used[a, i] < used[a, best])) {
      most = g
      best = i
    }
  }
  row[a] = best
}

# Begins a row with the first pair, from option `from` on, that is still to be covered.
function start(  a, b, i, j) {
  for (a = from; a <= options; ++a) {
    for (b = a + 1; b <= options; ++b)
      for (i = 1; i <= count[a]; ++i)
        for (j = 1; j <= count[b]; ++j)
          if (!met(a, i, b, j)) {
            row[a] = i
            row[b] = j
            return 1
          }
    from = a + 1
  }
  return 0
}

function generate(  a, b, line) {
  from = 1
  for (;;) {
    for (a = 1; a <= options; ++a) row[a] = 0
    if (!start()) return
    for (a = 1; a <= options; ++a)
      if (!row[a]) choose(a)
    line = ""
    for (a = 1; a <= options; ++a) {
      line = line (a > 1 ? " " : "") name[a] " " value[a, row[a]]
      ++used[a, row[a]]
      for (b = a + 1; b <= options; ++b) done[a, row[a], b, row[b]] = 1
    }
    print line
  }
}

END {
  if (ARGC > 2) verify()
  else generate()
}
