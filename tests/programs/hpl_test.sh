# SPDX-License-Identifier: BSD-3-Clause
#
# hpl from its input to its output: every combination runs, in netlib's order, and passes.

. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# parsed: the runs in `out`, one a line.
parsed() {
  awk -f "$here/parse_output.awk" out || fail "the output is not netlib's"
}

# Several of everything, on grids that leave ranks idle as well.
cat > several.dat << 'END'
several of everything
for four ranks
HPL.out      output file
6            device
4            number of N
0 1 17 65    N
2            number of NB
3 80         NB
1            PMAP
5            number of grids
2 1 4 1 3    P
2 4 1 2 1    Q
16.0         threshold
1            number of PFACT
0            PFACT
1            number of NBMIN
3            NBMIN
1            number of NDIV
3            NDIV
1            number of RFACT
1            RFACT
2            number of BCAST
0 5          BCAST
2            number of DEPTH
0 1          DEPTH
1            SWAP
0            swapping threshold
1            L1
0            U
0            equilibration
8            alignment
END
expect_status 0 4 -f several.dat --json several.json
parsed > runs
for grid in "2 2" "1 4" "4 1" "1 2" "3 1"; do
  for n in 0 1 17 65; do
    for nb in 3 80; do
      for depth in 0 1; do
        for bcast in 0 5; do
          echo "WC$depth${bcast}C3L3 $n $nb $grid"
        done
      done
    done
  done
done > expected
cut -d ' ' -f 1-5 runs > found
cmp -s expected found || fail "the runs differ: $(diff expected found | head -n 5)"
expect "verdicts" PASSED "$(cut -d ' ' -f 9 runs | sort -u)"
expect "runs in the JSON report" 160 "$(grep -c '"verdict":"passed"' several.json)"
expect "notes" "the parameters come from several.dat." \
  "$(sed -n 's/^Note: //p' out | grep -v '^the BLAS')"

# Forms that mean nothing for this storage are named once; the variant is that of what ran.
expect_status 0 4 --n 40,50 --nb 8 --grid 2x2 --bcast long,1ring --depth 0 --l1 0 --u 1 --swap mix
parsed > runs
expect "variants" "WR00R2C4 WR04R2C4" "$(cut -d ' ' -f 1 runs | sort -u | tr '\n' ' ' | sed 's/ $//')"
for name in L1 U; do
  expect "notes on $name" 1 "$(grep -c "^Note: $name is .* instead of the .*\.$" out)"
done
expect "notes on SWAP" 0 "$(grep -c "^Note: SWAP" out)"

# Beyond HPL.dat, alone and together.
for extension in "--swap auto" "--swap mpi" "--pivot collective" "--pivot hybrid" \
  "--split 0.3 --depth 1" "--reproducible yes" "--storage column" "--bcast bcast,ibcast" \
  "--transport automatic" \
  "--swap mpi --pivot hybrid --split 0.5 --storage column --depth 0,2 --bcast ibcast"; do
  # shellcheck disable=SC2086 # several words
  expect_status 0 4 --n 65 --nb 8 --grid 2x2,4x1 $extension
  expect "failures with $extension" 0 "$(grep -c FAILED out)"
done
expect "the report of extensions" 1 \
  "$(grep -c '^Beyond HPL.dat: pivot hybrid, split 0.5, reproducible no, storage by column$' out)"

# Where the time went. On one rank the steps make up the total, but for the substitution.
expect_status 0 2 --n 65 --nb 8 --grid 1x2 --phases yes
expect "phases" 8 "$(grep -c '^Max aggregated wall time, ' out)"
expect "what is around" 3 "$(grep -c '^Max untimed wall time, ' out)"
expect "steps without being asked" 0 "$(grep -c '^ *Step ' out)"
expect_status 0 2 --n 400 --nb 8 --grid 1x1 --depth 2 --phases steps --json steps.json
parsed > runs
expect "steps" 50 "$(grep -Ec '^ +[0-9]+ +[0-9]+ +0,0 ' out)"
expect "steps in the JSON report" 50 "$(grep -o '"columns"' steps.json | wc -l)"
awk '/^Max aggregated/ && !/substitution/ { total += $NF }
     /^ +[0-9]+ +[0-9]+ +0,0 / { for (i = 5; i < NF; ++i) steps += $i }
     END { exit !(total > 0 && steps > 0.9 * total - 0.01 && steps < 1.1 * total + 0.01) }' out ||
  fail "the steps are not the total"

# Threads: as many as were asked for, and a warning if they have too few CPUs.
expect_status 0 2 --n 65 --nb 8 --grid 1x2 --threads 2
if grep -q '^Kokkos: .*OpenMP' out; then
  expect "lines of the threads" 1 "$(grep -c '^Threads: 2 of Kokkos and .* of the BLAS' out)"
else
  expect "warnings of one thread" 1 "$(grep -c '^Warning: Kokkos runs on 1 thread per rank' out)"
fi
# Where nobody says how many, CPUs are shared out. Kokkos' warnings do not stand in the report.
if grep -q '^Kokkos: .*OpenMP' out; then
  for ranks in 1 2; do
    run_without_threads $ranks --n 65 --nb 8 --grid 1x$ranks
    expect "status with threads of its own choice" 0 "$status"
    share=$(($(env -u OMP_NUM_THREADS nproc) / ranks))
    expect "threads of $ranks ranks" 1 \
      "$(grep -c "^Threads: $((share > 1 ? share : 1)) of Kokkos" out)"
    expect "warnings of Kokkos" 0 "$(cat out err | grep -ci 'proc_bind')"
  done
fi
if grep -q '^Kokkos: .*OpenMP' out && command -v taskset > /dev/null; then
  hpl=$program
  program=taskset
  run 1 -c 0 "$hpl" --n 65 --threads 2
  expect "status of 2 threads on a CPU" 0 "$status"
  expect "warnings of 2 threads on a CPU" 1 \
    "$(grep -c '^Warning: rank 0: its 2 threads share 1 CPU' out)"
  run 2 -c 0 "$hpl" --n 65 --threads 1 --grid 1x2
  expect "warnings of 2 ranks on a CPU" 1 \
    "$(grep -c '^Warning: rank 0: the 2 threads of the 2 ranks on its machine share 1 CPU' out)"
  run 1 -c 0 "$hpl" --n 65 --threads 1 --json warnings.json
  expect "warnings without a reason" 0 "$(grep -c '^Warning: ' out)"
  expect "warnings in the JSON report" 1 "$(grep -c '^"warnings": \[\],$' warnings.json)"
  program=$hpl
fi

# The same system has the same answer: the residual depends on the grid by rounding only.
expect_status 0 4 --n 200 --nb 16 --grid 1x1,2x2,4x1 --threshold 16
parsed > runs
awk '$8 <= 0 || $8 > 1 { bad = 1 } END { exit bad }' runs || fail "residuals: $(cut -d ' ' -f 8 runs)"

# No check, a check that nothing passes, memory that no machine has.
expect_status 0 2 --n 50,60 --threshold 0
parsed > runs
expect "verdicts without a check" "unchecked unchecked" "$(awk '{ printf s $NF; s = " " }' runs)"
expect_status 1 2 --n 50,60 --threshold 1e-9
parsed > runs
expect "verdicts" "FAILED FAILED" "$(awk '{ printf s $NF; s = " " }' runs)"
expect "lines of norms" 12 "$(grep -c '^||[^/]* = *[0-9.]*$' out)"
expect_status 3 2 --n 50,2147483647 --nb 2147483647
parsed > runs
expect "runs beside the skipped one" 1 "$(wc -l < runs)"
expect "reasons" 1 "$(grep -c '^Skipped .* N=2147483647 .*: not enough memory: ' out)"
expect_status 1 2 --n 2147483647,50 --threshold 1e-9

# Output to the file that line 3 names.
sed '4s/6/9/' several.dat > to_file.dat
expect_status 0 4 -f to_file.dat --n 17 --nb 8 --grid 2x2
expect "lines on stdout" 0 "$(wc -l < out)"
cp HPL.out out
expect "runs in HPL.out" 4 "$(parsed | wc -l)"

# No input at all; input in the current folder.
expect_status 0 2
expect "the built-in problem is named" 1 "$(grep -c '^Note: .* the built-in problem' out)"
cp several.dat HPL.dat
expect_status 0 4 --n 5 --grid 1x1
expect "the input is named" 1 "$(grep -c '^Note: .* HPL.dat and the command line' out)"
expect_status 0 4 --print-config
mv out printed.dat
expect_status 0 4 -f printed.dat --print-config
cmp -s printed.dat out || fail "what is printed is not read back"

finish
