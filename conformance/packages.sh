# Sourced by the tests that need the outside world: npm packages and Node 22, in a cache outside the source tree.
#
#   packages NAME PACKAGE@VERSION...   installs exactly these once, and sets `folder` (its node_modules is there) and
#                                      `node` (a Node of version 22 or later)
#   python_packages PACKAGE VERSION    the same of one Python package, and sets `python`
#   go_program NAME FOLDER             builds the Go program there, and sets `program`
#   skip REASON                        says why and ends with 77, which ctest reports as skipped, not as passed
# Nothing that a package brings along is run at installation.

cache=${SIGNET_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/signet}
node_version=22.23.3

skip() {
  echo "SKIPPED: $*"
  exit 77
}

# install FOLDER PACKAGE@VERSION...: into FOLDER, unless the same list was installed there before.
install() {
  local into=$1 wanted="${*:2}"
  mkdir -p "$into" || skip "cannot write to $into"
  (
    flock 8
    [ "$(cat "$into/installed" 2>/dev/null)" = "$wanted" ] && exit 0
    rm -rf "$into/node_modules" "$into/installed" "$into/package-lock.json"
    echo '{"private": true}' > "$into/package.json"
    (cd "$into" && timeout 240 npm install --silent --no-audit --no-fund --ignore-scripts --save-exact "${@:2}") \
      < /dev/null > "$into/npm.log" 2>&1 || exit 1
    echo "$wanted" > "$into/installed"
  ) 8> "$into/lock" || skip "npm could not install $wanted: $(tail -1 "$into/npm.log" 2>/dev/null)"
}

# Sets `node`: the machine's, where it is new enough, or one from npm.
find_node() {
  node=$(command -v node || true)
  if [ -n "$node" ] && [ "$("$node" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)" -ge 22 ]; then return; fi
  local machine
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) skip "no Node 22 for $(uname -m)" ;;
  esac
  install "$cache/npm/node-$node_version" "node-linux-$machine@$node_version"
  node=$cache/npm/node-$node_version/node_modules/node-linux-$machine/bin/node
}

packages() {
  command -v npm > /dev/null || skip "npm is not installed (apt-get install npm)"
  find_node
  folder=$cache/npm/$1
  install "$folder" "${@:2}"
}

python_packages() {
  local venv=$cache/python/$1-$2
  mkdir -p "$cache/python" || skip "cannot write to $cache"
  (
    flock 8
    [ -f "$venv/installed" ] && exit 0
    rm -rf "$venv"
    python3 -m venv "$venv" && timeout 240 "$venv/bin/pip" install --quiet --disable-pip-version-check "$1==$2" && touch "$venv/installed"
  ) 8> "$cache/python/lock" > "$cache/python/log" 2>&1 ||
    skip "pip could not install $1 $2 (python3-venv, network): $(tail -1 "$cache/python/log")"
  python=$venv/bin/python
}

go_program() {
  local go
  go=$(command -v go || ls /usr/local/go/bin/go 2> /dev/null || true)
  [ -n "$go" ] || skip "Go is not installed"
  [[ $("$go" env GOVERSION) =~ ^go1\.(2[5-9]|[3-9][0-9]) ]] || skip "$("$go" env GOVERSION) is too old for the SDK"
  program=$cache/go/$1
  mkdir -p "$cache/go" || skip "cannot write to $cache"
  (
    flock 8
    cd "$2" && timeout 240 "$go" build -mod=readonly -o "$program" .
  ) 8> "$cache/go/lock" > "$cache/go/log" 2>&1 || skip "$1 could not be built: $(tail -1 "$cache/go/log")"
}

# Prints a TCP port of 127.0.0.1 that is free now.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for_port PORT PID: until something listens there; fails when PID ends first or after 20 s.
wait_for_port() {
  local tries
  for tries in $(seq 200); do
    (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null && return 0
    kill -0 "$2" 2> /dev/null || return 1
    sleep 0.1
  done
  return 1
}

# start PROGRAM ARGUMENT...: a server of ours over HTTP, until this script ends; sets `url`, and `work`, a folder that
# is removed at the end. Its log is shown where it does not start.
pids=()
work=
finish() {
  [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2> /dev/null || true
  [ -z "$work" ] || rm -rf "$work"
}
start() {
  local port
  [ -n "$work" ] || { work=$(mktemp -d); trap finish EXIT; }
  port=$(free_port)
  "$@" --http --port "$port" < /dev/null > "$work/$port.log" 2>&1 &
  pids+=($!)
  wait_for_port "$port" $! || { echo "$1 did not start:"; cat "$work/$port.log"; exit 1; }
  url=http://127.0.0.1:$port/mcp
}
start_fixture() { start "$bin/fixture_server"; }
