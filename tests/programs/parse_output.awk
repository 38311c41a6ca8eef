# SPDX-License-Identifier: BSD-3-Clause
#
# Reads the output of netlib HPL, or of hpl, by the lines that netlib prints. Prints
#
#   variant N NB P Q seconds Gflops residual verdict
#
# for each run; the residual is "-" where none was checked. Exits with 1, and says why, where a
# line is not netlib's to the byte, or where the summary does not agree with the runs.

function complain(text) {
  print "line " NR ": " text > "/dev/stderr"
  bad = 1
}

function flush_run() {
  if (run != "") print run, (residual == "" ? "- unchecked" : residual)
  run = residual = ""
}

function exactly(expected) {
  if ($0 != expected) complain("expected '" expected "', found '" $0 "'")
}

BEGIN {
  for (i = 0; i < 80; ++i) {
    equals = equals "="
    dashes = dashes "-"
  }
  header = "T/V                N    NB     P     Q               Time                 Gflops"
}

/^T\/V      / {
  exactly(header)
  if (previous != equals) complain("no rule above the column header")
  headers++
}

/^W[RC][0-9]/ {
  flush_run()
  if ($1 !~ /^W[RC][0-9]+[0-5][LCR][0-9]+[LCR][0-9]+$/) complain("no variant: " $1)
  exactly(sprintf("%s%12d %5d %5d %5d %18.2f    %19.4e", $1, $2, $3, $4, $5, $6, $7))
  run = $0
  $1 = $1
  run = $0
  runs++
}

/^HPL_pdgesv\(\) (start time|end time  ) [A-Z][a-z][a-z] [A-Z][a-z][a-z] [ 0-9][0-9] / {
  times++
}

/^\|\|Ax-b\|\|_oo\/\(eps/ {
  if (previous != dashes) complain("no rule above the residual")
  label = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)= "
  exactly(sprintf("%s%16.8e ...... %s", label, substr($0, length(label) + 1, 16), $NF))
  residual = substr($0, length(label) + 1, 16) + 0 " " $NF
  if ($NF == "PASSED") passed++
  else if ($NF == "FAILED") failed++
  else complain("neither PASSED nor FAILED")
}

/^Finished / {
  flush_run()
  exactly(sprintf("Finished %6d tests with the following results:", $2))
  finished = $2
}
/tests completed and passed residual checks,$/ {
  exactly(sprintf("         %6d tests completed and passed residual checks,", $1))
  if ($1 != passed + 0) complain($1 " passed, but " passed + 0 " were seen")
  summed += $1
}
/tests completed and failed residual checks,$/ {
  exactly(sprintf("         %6d tests completed and failed residual checks,", $1))
  if ($1 != failed + 0) complain($1 " failed, but " failed + 0 " were seen")
  summed += $1
}
/tests completed without checking,$/ {
  exactly(sprintf("         %6d tests completed without checking,", $1))
  if (passed + failed > 0) complain("checked runs in an unchecked test")
  summed += $1
}
/tests failed without checking,$/ {
  exactly(sprintf("         %6d tests failed without checking,", $1))
  if (passed + failed > 0) complain("checked runs in an unchecked test")
  summed += $1
}
/tests skipped because of illegal input values\.$/ {
  exactly(sprintf("         %6d tests skipped because of illegal input values.", $1))
  skipped = $1
  summed += $1
}
/^End of Tests\.$/ { ended = 1 }

{ previous = $0 }

END {
  if (!ended || previous != equals) complain("the output does not end as netlib's")
  if (summed != finished) complain(finished " finished, but " summed " are accounted for")
  if (finished - skipped != runs + 0) complain(finished " finished, " runs + 0 " were seen")
  if (times != 2 * runs) complain("start and end times: " times + 0)
  if (runs > 0 && headers != (passed + failed > 0 ? runs : 1))
    complain("column headers: " headers + 0)
  exit bad
}
