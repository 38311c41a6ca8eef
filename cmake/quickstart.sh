#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
#
# From a bare Debian machine to a solved problem, or to a run of all tests. See --help.
set -euo pipefail

usage() {
  cat <<'END'
usage: cmake/quickstart.sh [run|test] [option...] [-- CMake arguments]

  run    (default) gets what Plinth needs, builds it and solves one HPL problem on two ranks
  test   gets what Plinth needs, builds everything and runs all tests; the exit status is ctest's

What is missing is installed with apt. Where no suitable Kokkos is found, Kokkos and Kokkos
Kernels are built with OpenMP from Debian's source package into a folder of this checkout.
Finished work is not repeated.

options
  --no-install   install and download nothing: use what is there, say what is missing
  --jobs N       run N compilers at a time (default: by processors and memory)
  --help         this text

environment
  CMAKE_PREFIX_PATH   where to look first for Kokkos, Kokkos Kernels and the rest
  PLINTH_DEPS_DIR     where to build Kokkos (default: build/deps in the checkout)
END
}

say() { printf 'quickstart: %s\n' "$*"; }
fail() {
  printf 'quickstart: error: %s\n' "$*" >&2
  exit 1
}

# --- arguments -------------------------------------------------------------------------------

mode=run
install=yes
jobs=
cmake_args=()
while (($# > 0)); do
  case $1 in
    run | test) mode=$1 ;;
    --no-install) install=no ;;
    --jobs)
      (($# > 1)) || fail "--jobs needs a number"
      jobs=$2
      shift
      ;;
    --jobs=*) jobs=${1#--jobs=} ;;
    -h | --help)
      usage
      exit 0
      ;;
    --)
      shift
      cmake_args=("$@")
      break
      ;;
    *)
      usage >&2
      fail "unknown argument '$1'"
      ;;
  esac
  shift
done
[[ -z $jobs || $jobs =~ ^[1-9][0-9]*$ ]] || fail "--jobs needs a positive number, not '$jobs'"

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
deps=${PLINTH_DEPS_DIR:-$root/build/deps}
mkdir -p "$deps" && [[ -w $deps ]] ||
  fail "cannot write to $deps; set PLINTH_DEPS_DIR to a folder that you can write"
deps=$(cd "$deps" && pwd)
kokkos_prefix=$deps/kokkos
logs=$deps/logs
mkdir -p "$logs"

# Two runs at once would build the same Kokkos in the same place.
if command -v flock >/dev/null; then
  exec 9>"$deps/.lock"
  flock -n 9 || {
    say "waiting for another quickstart that works in $deps"
    flock 9
  }
fi

# --- how much at a time ------------------------------------------------------------------------

# Memory that is free for us in MiB, within the limits of a container.
free_memory() {
  local kib limit used
  kib=$(awk '/^MemAvailable:/ {print $2}' /proc/meminfo 2>/dev/null || true)
  kib=${kib:-4194304}
  if [[ -r /sys/fs/cgroup/memory.max ]]; then
    limit=$(cat /sys/fs/cgroup/memory.max)
    used=$(cat /sys/fs/cgroup/memory.current 2>/dev/null || echo 0)
    if [[ $limit =~ ^[0-9]+$ ]] && (((limit - used) / 1024 < kib)); then
      kib=$(((limit - used) / 1024))
    fi
  fi
  echo $((kib / 1024))
}
cores=$(nproc 2>/dev/null || echo 1)
memory=$(free_memory)
if [[ -z $jobs ]]; then
  # A compiler on a file full of Kokkos templates can take 1.5 GiB.
  jobs=$((memory / 1536))
  ((jobs <= cores)) || jobs=$cores
  ((jobs >= 1)) || jobs=1
fi

# --- apt ---------------------------------------------------------------------------------------

as_root() {
  if ((EUID == 0)); then
    "$@"
  else
    sudo "$@"
  fi
}

apt_updated=no
# apt_install PACKAGE...: installs those that are not installed; false if that is impossible.
apt_install() {
  local missing=() package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) == installed ]] ||
      missing+=("$package")
  done
  ((${#missing[@]} > 0)) || return 0
  say "installing ${missing[*]}"
  local options=(-q -o DPkg::Lock::Timeout=600)
  if [[ $apt_updated == no ]]; then
    as_root apt-get "${options[@]}" update </dev/null >"$logs/apt.log" 2>&1 ||
      say "warning: apt-get update reported a problem (see $logs/apt.log)"
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install -y \
    --no-install-recommends "${missing[@]}" </dev/null >>"$logs/apt.log" 2>&1 || {
    tail -n 15 "$logs/apt.log" >&2
    return 1
  }
}

if [[ $install == yes ]]; then
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    say "there is no apt here, so nothing is installed (as with --no-install)"
    install=no
  elif ((EUID != 0)) && ! command -v sudo >/dev/null; then
    say "neither root nor sudo here, so nothing is installed (as with --no-install)"
    install=no
  fi
fi

# --- tools -------------------------------------------------------------------------------------

have_cmake() {
  command -v cmake >/dev/null &&
    cmake --version | awk 'NR == 1 {split($3, v, "."); exit !(v[1] * 1000 + v[2] >= 3025)}'
}
have_compiler() { command -v "${CXX:-c++}" >/dev/null; }
have_ninja() { command -v ninja >/dev/null; }
have_mpi() { command -v mpicxx >/dev/null && command -v mpiexec >/dev/null; }
have_openmpi() { mpiexec --version 2>/dev/null | grep -q -i 'open *mpi\|openrte'; }

tools=()
have_cmake || tools+=(cmake)
have_compiler || tools+=(g++)
have_ninja || command -v make >/dev/null || tools+=(ninja-build)
have_mpi || tools+=(openmpi-bin libopenmpi-dev)
if ((${#tools[@]} > 0)); then
  [[ $install == yes ]] ||
    fail "missing: ${tools[*]} (names of Debian packages; CMake must be 3.25 or newer)"
  apt_install "${tools[@]}" || fail "apt could not install ${tools[*]}"
fi
have_cmake || fail "CMake 3.25 or newer is needed, found $(cmake --version 2>&1 | head -n 1)"
have_compiler || fail "no C++ compiler found; set CXX"
have_mpi || fail "no MPI found: mpicxx and mpiexec must be on PATH"

# Open MPI asks before it runs as root, and counts cores before it starts ranks.
mpiexec_flags=()
if have_openmpi; then
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
  export OMPI_MCA_rmaps_base_oversubscribe=1
  mpiexec_flags=(--bind-to none)
fi

if have_ninja; then
  export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
fi

# --- libraries ---------------------------------------------------------------------------------

if [[ $install == yes ]]; then
  libraries=(libopenblas-openmp-dev catch2 libcli11-dev nlohmann-json3-dev)
  if have_openmpi; then
    libraries+=(libscalapack-openmpi-dev)
  fi
  # Somebody who brings a BLAS keeps it.
  if [[ -n ${BLA_VENDOR:-} ]]; then
    libraries=("${libraries[@]:1}")
  fi
  apt_install "${libraries[@]}" || fail "apt could not install what the programs and tests need"
fi

# --- Kokkos ------------------------------------------------------------------------------------

# probe [CMake argument...]: what would CMake find? Sets found_kokkos, found_kernels,
# found_devices, or problem.
probe() {
  local dir=$deps/probe
  rm -rf "$dir"
  problem=
  if cmake -S "$root/cmake/probe" -B "$dir" "$@" "${cmake_args[@]}" \
    >"$logs/probe.log" 2>&1; then
    found_kokkos=$(sed -n 's/^PLINTH_KOKKOS_DIR:INTERNAL=//p' "$dir/CMakeCache.txt")
    found_kernels=$(sed -n 's/^PLINTH_KERNELS_DIR:INTERNAL=//p' "$dir/CMakeCache.txt")
    found_devices=$(sed -n 's/^PLINTH_KOKKOS_DEVICES:INTERNAL=//p' "$dir/CMakeCache.txt")
    return 0
  fi
  problem=$(sed -n 's/^PLINTH_PROBLEM:INTERNAL=plinth: //p' "$dir/CMakeCache.txt" 2>/dev/null ||
    true)
  # The advice to run this script helps nobody here.
  problem=${problem%; cmake/quickstart.sh*}
  [[ -n $problem ]] || problem="CMake failed, see $logs/probe.log"
  return 1
}

# What a finished Kokkos of ours depends on; it is built anew when this changes.
kokkos_key() {
  printf 'recipe 1: OpenMP, Serial, C++20, Release, BLAS TPL, no ETI\n'
  printf 'compiler: %s\n' "$("${CXX:-c++}" --version | head -n 1)"
}

own_kokkos_is_complete() {
  [[ -f $kokkos_prefix/.plinth-complete ]] &&
    [[ $(<"$kokkos_prefix/.plinth-complete") == "$(kokkos_key)" ]]
}

# write_source_entries FOLDER: the machine's own apt entries for its release, turned into source
# entries. Both forms of apt configuration are read; nothing outside FOLDER is written.
write_source_entries() {
  local to=$1 file name codename
  codename=$(sed -n 's/^VERSION_CODENAME="\{0,1\}\([a-z]*\).*/\1/p' /etc/os-release)
  local suites="^(${codename:-stable}|stable|oldstable|testing|unstable|sid)$"
  for file in /etc/apt/sources.list.d/*.sources; do
    [[ -r $file ]] || continue
    name=$(basename "$file" .sources)
    awk -v suites="$suites" '
      function flush_stanza(   i, n, words, wanted) {
        n = split(stanza_suites, words, /[ \t]+/)
        for (i = 1; i <= n; ++i) if (words[i] ~ suites) wanted = 1
        if (wanted && !disabled && types ~ /(^|[ \t])deb([ \t-]|$)/) printf "%s\n", stanza
        stanza = stanza_suites = types = ""; disabled = 0
      }
      /^[ \t]*$/ { flush_stanza(); next }
      /^#/ { next }
      tolower($0) ~ /^enabled:[ \t]*(no|false|off|0|without|disable)[ \t]*$/ { disabled = 1 }
      tolower($1) == "types:" { types = substr($0, 7); $0 = "Types: deb-src" }
      tolower($1) == "suites:" { stanza_suites = substr($0, 8) }
      { stanza = stanza $0 "\n" }
      END { flush_stanza() }' "$file" >"$to/$name.sources"
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [[ -r $file ]] || continue
    name=$(basename "$file" .list)
    awk -v suites="$suites" '
      /^[ \t]*deb(-src)?[ \t]/ {
        sub(/#.*/, "")
        rest = $0
        sub(/^[ \t]*deb(-src)?[ \t]+/, "", rest)
        options = ""
        if (rest ~ /^\[/) {
          options = substr(rest, 1, index(rest, "]")) " "
          rest = substr(rest, index(rest, "]") + 1)
        }
        split(rest, words, /[ \t]+/)
        first = words[1] == "" ? 2 : 1
        if (words[first + 1] ~ suites) {
          sub(/^[ \t]+/, "", rest)
          print "deb-src " options rest
        }
      }' "$file" | sort -u >"$to/$name.list"
  done
  find "$to" -type f -empty -delete
  [[ -n $(ls -A "$to") ]]
}

# Downloads Debian's source package that holds Kokkos, and unpacks the two folders wanted.
get_kokkos_source() {
  local work=$1
  [[ ! -d $work/source ]] || return 0
  rm -rf "$work/apt" "$work/unpack"
  mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial"
  write_source_entries "$work/apt/parts" || {
    say "the apt configuration of this machine names no source for its release"
    return 1
  }
  local options=(-q
    -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$work/apt/parts"
    -o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache"
    -o APT::Sandbox::User="$(id -un)")
  say "downloading Debian's source of Kokkos and Kokkos Kernels (170 MB)"
  apt-get "${options[@]}" update </dev/null >"$logs/source.log" 2>&1 || true
  mkdir -p "$work/download"
  (cd "$work/download" &&
    apt-get "${options[@]}" source --download-only trilinos) </dev/null \
    >>"$logs/source.log" 2>&1 || return 1
  local tarball top
  tarball=$(find "$work/download" -maxdepth 1 -name 'trilinos_*.orig.tar.*' ! -name '*.asc' |
    sort | tail -n 1)
  [[ -n $tarball ]] || return 1
  # One pass over the archive; its top folder's name varies.
  mkdir -p "$work/unpack"
  tar -x -f "$tarball" -C "$work/unpack" --wildcards \
    '*/packages/kokkos/*' '*/packages/kokkos-kernels/*' || return 1
  top=$(find "$work/unpack" -mindepth 1 -maxdepth 1 -type d | head -n 1)
  [[ -f $top/packages/kokkos/CMakeLists.txt ]] || return 1
  [[ -f $top/packages/kokkos-kernels/CMakeLists.txt ]] || return 1
  mv "$top/packages" "$work/source"
  rm -rf "$work/unpack" "$work/apt" "$work/download"
}

# False where a step fails. (Called from a condition, so `set -e` does not act inside.)
build_kokkos() {
  local work=$deps/kokkos-work
  mkdir -p "$work"
  # Work begun under another configuration is of no use.
  if [[ -f $work/key && $(<"$work/key") != "$(kokkos_key)" ]]; then
    rm -rf "$work/kokkos" "$work/kernels"
  fi
  kokkos_key >"$work/key"
  get_kokkos_source "$work" || return 1
  rm -rf "$kokkos_prefix"

  say "building Kokkos (log: $logs/kokkos.log)"
  {
    cmake -S "$work/source/kokkos" -B "$work/kokkos" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
      -DCMAKE_INSTALL_PREFIX="$kokkos_prefix" -DCMAKE_INSTALL_LIBDIR=lib \
      -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON &&
      cmake --build "$work/kokkos" -j "$jobs" && cmake --install "$work/kokkos"
  } </dev/null >"$logs/kokkos.log" 2>&1 || {
    tail -n 15 "$logs/kokkos.log" >&2
    return 1
  }

  say "building Kokkos Kernels (log: $logs/kernels.log)"
  # The BLAS' naming is given, because asking for it takes a Fortran compiler.
  local blas=()
  if [[ -z ${BLA_VENDOR:-} ]]; then
    blas=(-DBLA_VENDOR=OpenBLAS)
  fi
  {
    cmake -S "$work/source/kokkos-kernels" -B "$work/kernels" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=20 \
      -DCMAKE_INSTALL_PREFIX="$kokkos_prefix" -DCMAKE_INSTALL_LIBDIR=lib \
      -DKokkos_DIR="$kokkos_prefix/lib/cmake/Kokkos" \
      -DKokkosKernels_ADD_DEFAULT_ETI=OFF -DKokkosKernels_INST_DOUBLE=OFF \
      -DKokkosKernels_INST_LAYOUTLEFT=OFF -DKokkosKernels_INST_ORDINAL_INT=OFF \
      -DKokkosKernels_INST_OFFSET_SIZE_T=OFF -DKokkosKernels_INST_OFFSET_INT=OFF \
      -DKokkosKernels_ENABLE_TPL_BLAS=ON "${blas[@]}" \
      -DF77_BLAS_MANGLE='(name,NAME) name ## _' &&
      cmake --build "$work/kernels" -j "$jobs" && cmake --install "$work/kernels"
  } </dev/null >"$logs/kernels.log" 2>&1 || {
    tail -n 15 "$logs/kernels.log" >&2
    return 1
  }
  kokkos_key >"$kokkos_prefix/.plinth-complete"
  rm -rf "$work"
}

# Sets kokkos_args, what CMake needs in order to use the Kokkos of our choice.
choose_kokkos() {
  local none_because
  # One that is found and can use all cores, or that somebody chose to install.
  if probe; then
    if [[ $found_kokkos != /usr/lib/* || ${found_devices/SERIAL/} =~ [A-Z] ]]; then
      say "using the Kokkos in $found_kokkos"
      return 0
    fi
    none_because="the Kokkos in $found_kokkos runs on one core only"
  else
    none_because=$problem
  fi

  # One of ours.
  local ours=(-DKokkos_DIR="$kokkos_prefix/lib/cmake/Kokkos"
    -DKokkosKernels_DIR="$kokkos_prefix/lib/cmake/KokkosKernels")
  if own_kokkos_is_complete && probe "${ours[@]}"; then
    say "using the Kokkos in $kokkos_prefix"
    return 0
  fi
  if [[ $install == yes ]]; then
    say "$none_because"
    if build_kokkos; then
      probe "${ours[@]}" || fail "the Kokkos just built is not usable: $problem"
      return 0
    fi
    say "WARNING: Kokkos could not be built from Debian's source package (logs: $logs)."
    say "WARNING: falling back to Debian's binary packages of Kokkos, which are SERIAL:"
    say "WARNING: each rank will use one core. Use more ranks instead of threads."
    apt_install libtrilinos-kokkos-dev libtrilinos-kokkos-kernels-dev ||
      fail "apt could not install Debian's Kokkos packages either"
  fi

  # Whatever there is.
  probe || fail "$problem"
  say "using the Kokkos in $found_kokkos ($found_devices)"
}

choose_kokkos
if command -v flock >/dev/null; then
  exec 9>&-
fi

# --- Plinth ------------------------------------------------------------------------------------

build=$root/build/release
say "configuring in $build"
# What an earlier run was told is not kept.
cmake --preset release -DPLINTH_QUICK_BUILD=OFF -DPLINTH_WERROR=OFF \
  -DKokkos_DIR="$found_kokkos" -DKokkosKernels_DIR="$found_kernels" \
  "${cmake_args[@]}" </dev/null >"$logs/configure.log" 2>&1 || {
  cat "$logs/configure.log" >&2
  fail "CMake could not configure Plinth"
}
grep '^-- plinth:' "$logs/configure.log" || true

if [[ $mode == test ]]; then
  say "building everything with $jobs jobs"
  cmake --build --preset release -j "$jobs" </dev/null || fail "the build failed"
  say "running the tests"
  exec ctest --preset release -j "$cores" </dev/null
fi

say "building hpl with $jobs jobs"
cmake --build --preset release -j "$jobs" --target hpl </dev/null || fail "the build failed"

# 2/3 n^3 operations: a few seconds on two cores of a recent machine. The matrix takes 8 n^2 bytes.
n=6000
if ((memory < 1024)); then
  n=3000
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores > 1 ? cores / 2 : 1))}
export OMP_PROC_BIND=${OMP_PROC_BIND:-false}
run=(mpiexec -n 2 "${mpiexec_flags[@]}" "$build/bin/hpl" --n "$n" --nb 192 --grid 1x2)
say "solving a system of $n equations on 2 ranks of $OMP_NUM_THREADS threads:"
say "${run[*]}"
status=0
"${run[@]}" </dev/null || status=$?
((status == 0)) || fail "hpl ended with status $status"
say "done. The programs are in $build/bin; cmake/quickstart.sh test runs all tests."
