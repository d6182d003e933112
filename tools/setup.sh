# Sourced by ./demo and ./check: installing what is missing, with Debian's package manager and nothing else.
#
#   build_packages, check_packages   what each needs, one name a word
#   ensure_packages NAME...          installs those that are missing; ends the program with a sentence where it cannot
#   say SENTENCE...                  to the person, on stderr
set -euo pipefail

build_packages="ca-certificates ccache cmake g++ libboost1.81-dev libcli11-dev libhiredis-dev libre2-dev
  libsqlite3-dev libssl-dev ninja-build pkg-config prometheus-cpp-dev"
check_packages="$build_packages clang-19 clang-format-19 git libbenchmark-dev libclang-rt-19-dev libcpp-httplib-dev libgmock-dev libgtest-dev
  librapidcheck-dev nodejs npm procps python3 python3-pip python3-venv redis-server tmux wrk"

say() { printf '%s\n' "$*" >&2; }

missing_packages() {
  local name
  for name in "$@"; do
    case $(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null || true) in
      installed) ;;
      *)
        # Node may come from elsewhere, with its npm; what counts is that the program is there.
        case $name in nodejs | npm) command -v "${name%js}" > /dev/null && continue ;; esac
        echo "$name"
        ;;
    esac
  done
}

ensure_packages() {
  local wanted log as_root=()
  wanted=$(missing_packages "$@" | tr '\n' ' ')
  [ -n "$wanted" ] || return 0
  if ! command -v apt-get > /dev/null; then
    say "This needs a Debian 12 or a system with its packages; apt-get is not here. Install by hand: $wanted"
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo > /dev/null; then
      say "These packages are missing, and only root can install them: $wanted"
      exit 1
    fi
    as_root=(sudo)
  fi
  say "Installing: $wanted"
  log=$(mktemp)
  # --no-remove: a package that would push another out (Boost 1.74) is a decision for the owner of the machine.
  if ! { ${as_root[@]+"${as_root[@]}"} apt-get update &&
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
      --no-remove $wanted; } < /dev/null > "$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    say "Installing failed; the lines above say why. Needed: $wanted"
    exit 1
  fi
  rm -f "$log"
}

# ccache keeps what was compiled, also across checkouts. The compiler is found by its name, so say where things are.
export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
# Two jobs need about 3 GB; more cores than that many times 1.5 GB would swap.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ {print int($2 / 1572864)}' /proc/meminfo)
  [ "$memory" -ge 1 ] || memory=1
  [ "$memory" -lt "$cores" ] && echo "$memory" || echo "$cores"
}

# Copies what ninja says; says $when_building once, as soon as something is built, and of a long build every fifth part.
watch_build() {
  local line said= fifth=1 progress='^\[([0-9]+)/([0-9]+)\] (Building|Linking) '
  while IFS= read -r line; do
    printf '%s\n' "$line"
    [[ $line =~ $progress ]] || continue
    if [ -z "$said" ] && [ -n "${when_building:-}" ]; then
      say "$when_building"
      said=yes
    fi
    if [ "${BASH_REMATCH[2]}" -ge 50 ] && [ "$fifth" -le 4 ] &&
      [ $((BASH_REMATCH[1] * 5)) -ge $((BASH_REMATCH[2] * fifth)) ]; then
      say "  ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} built"
      fifth=$((BASH_REMATCH[1] * 5 / BASH_REMATCH[2] + 1))
    fi
  done
}

# build PRESET [TARGET...] with its output in build/PRESET.log, shown where it fails.
build() {
  local preset=$1 log=build/$1.log
  shift
  mkdir -p build
  if ! ninja -C "build/$preset" -j "$(build_jobs)" "$@" < /dev/null 2>&1 | watch_build > "$log"; then
    grep -v '^\[' "$log" | tail -n 60 >&2 || true
    say "Building $preset failed; the whole output is in $log"
    exit 1
  fi
}

# configure PRESET [OPTION...]
configure() {
  local preset=$1 log=build/$1.configure.log
  shift
  mkdir -p build
  if ! cmake --preset "$preset" "$@" < /dev/null > "$log" 2>&1; then
    tail -n 30 "$log" >&2
    say "Configuring $preset failed; the whole output is in $log"
    exit 1
  fi
}
