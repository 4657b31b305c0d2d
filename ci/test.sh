#!/usr/bin/env bash
# Every test there is, from a fresh Debian 12 with Rust: installs what it needs (as root), then runs all stages.
# Usage: ci/test.sh [STAGE...]   stages: format lint unit docs fuzz soak demo lab python interop moves torture; and by name only: long
# What failed is said again at the end. Environment: LIMIT=SECONDS for everything together (default 3300, for the stage long alone 14400);
# SEED for the stages soak and long, which begin with the time otherwise; SEEDS of each sort for the stage long (default 200000).
set -uo pipefail
cd "$(dirname "$0")/.." || exit

all=(format lint unit docs fuzz soak demo lab python interop moves torture)
limit=${LIMIT:-3300}
[ "$*" != long ] || limit=${LIMIT:-14400}
# Everything is built once here; what incremental builds would need is written for nothing.
export CARGO_INCREMENTAL=${CARGO_INCREMENTAL:-0}
# One profile for all: nobody debugs what is built here, nothing is measured, and what is checked in tests is checked everywhere.
export CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16 CARGO_PROFILE_RELEASE_OPT_LEVEL=2
export CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
programs=${CARGO_TARGET_DIR:-target}/release

install() {
    local packages=(baresip-core build-essential ca-certificates chromium git iproute2 iptables kamailio kmod libsctp-dev libusrsctp-dev lksctp-tools
        procps python3 python3-venv sip-tester socat tcpdump tshark user-mode-linux util-linux)
    if [ "$(id -u)" != 0 ]; then
        echo "not root: nothing is installed, and tests that need namespaces or raw sockets say so and skip"
        return 0
    fi
    export DEBIAN_FRONTEND=noninteractive
    local options=(-q -y -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
    local state
    install_go
    state=$(dpkg-query -W -f '${db:Status-Abbrev}\n' "${packages[@]}" 2>/dev/null) && ! grep -qv '^ii' <<<"$state" && return 0
    apt-get "${options[@]}" update >/dev/null && apt-get "${options[@]}" install --no-install-recommends "${packages[@]}" >/dev/null
}

# For one of the peers of others. Debian 12's own is too old to fetch the version that is asked for; its backports have one that can.
install_go() {
    command -v go >/dev/null && return
    local list=/etc/apt/sources.list.d/whimbrel-backports.list
    echo "deb http://deb.debian.org/debian bookworm-backports main" >"$list"
    apt-get "${options[@]}" update >/dev/null && apt-get "${options[@]}" install --no-install-recommends -t bookworm-backports golang-go >/dev/null ||
        echo "Go cannot be installed: pion will be skipped"
}

format() {
    cargo fmt --all --check || return
    # What is no member of the workspace has a lock file of its own, which a new dependency of the library outdates.
    local lock
    for lock in $(git ls-files '*/Cargo.lock'); do
        cargo tree --locked --manifest-path "${lock%lock}toml" >/dev/null ||
            { echo "FAIL $lock is out of date: cargo tree --manifest-path ${lock%lock}toml" && return 1; }
    done
}
lint() { cargo clippy --workspace --all-targets --locked -- -D warnings; }
unit() {
    cargo test --workspace --release --locked --no-run && : >"$work/built" || return
    cargo test --workspace --release --locked --no-fail-fast
}
# The command, as the stage unit has built it: with the features that tests want, which another build would do everything again without.
whimbrel() { if [ -n "${PROGRAMS:-}" ]; then "$PROGRAMS/whimbrel" "$@"; else cargo run --release --locked -- "$@"; fi; }
docs() { RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked; }
fuzz() { RUSTFLAGS="--cfg fuzzing" cargo check --manifest-path fuzz/Cargo.toml --locked; }
# Other worlds each time; those that once failed are tests (crates/soak/tests).
soak() {
    local seed=${SEED:-$(date +%s)}
    echo "from seed $seed on; again: SEED=$seed ci/test.sh soak"
    whimbrel soak --seed "$seed" --seeds 2000
}
# Worlds and inputs that nobody has seen: other ones each time, two hours long.
long() {
    local worlds seed=${SEED:-$(date +%s)} status=0
    echo "from seed $seed on; again: SEED=$seed ci/test.sh long"
    for worlds in mixed standing moving attacked behind-nat rough controllers multipath protected; do
        whimbrel soak --worlds "$worlds" --seed "$seed" --seeds "${SEEDS:-200000}" || status=1
    done
    FUZZ_SEED=$seed FUZZ_INPUTS=${FUZZ_INPUTS:-50000} cargo test --release --locked -p whimbrel-proto -- \
        pseudo_random a_hostile_peer two_endpoints || status=1
    FUZZ_SEED=$seed FUZZ_INPUTS=${FUZZ_INPUTS:-50000} cargo test --release --locked -p whimbrel-ufa --test hostile || status=1
    return "$status"
}
demo() {
    whimbrel demo --out "$work/demo.html" || return
    # Not root, nothing installed: then it says so and passes.
    interop/report/run.sh --page "$work/demo.html"
}
# The same rows whatever runs beside; a claim that was checked once is checked by others, too (cargo test has that).
lab() {
    local jobs
    for jobs in 1 2; do
        whimbrel lab run b08_fig07 b08_fig12 --reps 2 --jobs "$jobs" --out "$work/lab-$jobs" || return
    done
    cmp "$work"/lab-{1,2}/b08_fig07.csv && cmp "$work"/lab-{1,2}/b08_fig12.csv || return
    whimbrel lab report --results "$work/lab-1" --out "$work/lab.html" --open no || return
    # Somebody else reads captures, of TCP over Mobile IP and of TCP beside SCTP.
    whimbrel lab trace c04_fig06 --cell scheme=tom --pcap "$work/mobile-ip.pcapng" || return
    whimbrel lab trace e13_lc --pcap "$work/beside.pcapng" || return
    if command -v tshark >/dev/null; then
        interop/check_capture.sh -t "$work"/{mobile-ip,beside}.pcapng || return
    else
        echo "skipped: captures are read by tshark, which is not there"
    fi
    # Not root, nothing installed: then it says so and passes.
    interop/report/run.sh "$work/lab.html"
}
# The package as users install it, against the command: in threads, in other processes, and on the clusters that people have.
python() {
    local venv=$work/venv
    if ! python3 -m venv "$venv" >/dev/null; then
        rm -r "$venv"
        echo "skipped: there is no venv for python3"
        return 0
    fi
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 3 -r crates/python/requirements.txt || return
    [ -n "${PROGRAMS:-}" ] || cargo build --release --locked || return
    "$venv/bin/maturin" build -q --release --locked -m crates/python/Cargo.toml -i "$venv/bin/python" -o "$work/wheels" || return
    "$venv/bin/pip" install -q --disable-pip-version-check --no-deps "$work"/wheels/*.whl || return
    WHIMBREL=$programs/whimbrel "$venv/bin/python" -m pytest -q -p no:cacheprovider crates/python/tests
}
interop() {
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: needs root for network namespaces"
        return 0
    fi
    # Real processes and captures on a shared machine: a failure has to repeat itself. The guest of the kernel part has one processor.
    local kernel status
    interop/run.sh none || return
    REPEAT=1 interop/run.sh kernel >"$work/kernel.log" 2>&1 &
    kernel=$!
    # Also if the stage is ended because something hangs.
    trap 'cat "$work/kernel.log"' EXIT
    trap 'exit 143' TERM
    REPEAT=1 interop/run.sh usrsctp webrtc
    status=$?
    wait "$kernel" || status=1
    return "$status"
}

# A host that moves, on real interfaces and emulated cables.
moves() {
    if [ "$(id -u)" != 0 ] || [ ! -c /dev/net/tun ]; then
        echo "skipped: needs root for network namespaces, and /dev/net/tun"
        return 0
    fi
    # One direction; CONTRIBUTING.md has the command for both.
    interop/netns/run.sh -r -d up || return
    python3 interop/netns/e13_report_tests.py || return
    # Half a minute; a shared machine may be too busy once.
    interop/netns/e13.sh -q || interop/netns/e13.sh -q || return
    # A minute each; the second one with agents of others.
    interop/netns/gateway.sh || interop/netns/gateway.sh || return
    interop/netns/gateway_sipp.sh || return
    # Half a minute.
    interop/netns/gateway_proxy.sh
}

# Twelve rows of the torture table, one of each kind of trouble, four at a time; what breaks has to break twice.
torture() {
    if [ "$(id -u)" != 0 ] || [ ! -c /dev/net/tun ]; then
        echo "skipped: needs root for network namespaces, and /dev/net/tun"
        return 0
    fi
    local row rows=()
    for row in silent_both_15 unplugged_both_8 back_one_8 black_hole_only_1280 loss_ramp_both bloat_forth renumbered_same_instant \
        three_uplinks_last_replaced ipv6_to_ipv4 nat_expiry_5 suspended_mobile_10 flaps_unplugged_only_0.5_hz; do rows+=(-m "$row"); done
    interop/netns/torture.sh "${rows[@]}" -j 4 -r -o "$work/torture"
}

# What a reader wants to know of a failed stage: names of tests, complaints of compilers, checks that failed.
excerpt() {
    local lines
    lines=$(grep -aE -A1 --no-group-separator '^test .* FAILED$|^error|^ +--> |panicked at|^FAIL|^Diff in |to rerun pass|^E: |^seed |replay:' "$1" |
        grep -avE '^test .* ok$|^failures:|^error: [0-9]+ targets? failed|^ *$|^--$' | awk '!said[$0]++' | head -n 40)
    [ -n "$lines" ] || lines=$(tail -n 15 "$1")
    sed 's/^/        /' <<<"$lines"
}

# In a process of its own, so that a stage that hangs can be ended with all that it started.
run() {
    local name=$1 start=$SECONDS left=$((limit - SECONDS)) status why=
    echo "=== $name"
    if [ "$left" -le 0 ]; then
        status=124
    else
        : >"$work/$name.log"
        WORK=$work PROGRAMS=$built timeout --kill-after=30 "$left" ci/test.sh "--stage=$name" >>"$work/$name.log" 2>&1 &
        child=$!
        tail -n +1 -s 0.2 -f --pid="$child" "$work/$name.log"
        wait "$child"
        status=$?
    fi
    # Whatever has become of the tests.
    [ ! -e "$work/built" ] || built=$(realpath "$programs")
    if [ "$status" = 0 ]; then
        passed=$((passed + 1))
        summary+=("ok      $name, $((SECONDS - start)) s")
        echo "${summary[-1]}"
        return
    fi
    case $status in 124 | 137) why=", ended after the $limit s that all stages have together" ;; esac
    failed=$((failed + 1))
    echo "FAILED  $name, $((SECONDS - start)) s$why"
    summary+=("FAILED  $name, $((SECONDS - start)) s$why")
    [ -s "$work/$name.log" ] && summary+=("$(excerpt "$work/$name.log")")
}

case ${1-} in
--stage=*)
    work=$WORK
    "${1#--stage=}"
    exit
    ;;
esac

stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=("${all[@]}")
for stage in "${stages[@]}"; do
    case " ${all[*]} long " in
    *" $stage "*) ;;
    *) echo "ci/test.sh: no stage '$stage'" >&2; exit 2 ;;
    esac
done

passed=0
failed=0
summary=()
child=
# Where what other stages run is, when the stage unit has built it.
built=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap '[ -z "$child" ] || kill "$child" 2>/dev/null; exit 130' INT TERM
for stage in install "${stages[@]}"; do run "$stage"; done
echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
