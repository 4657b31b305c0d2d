#!/usr/bin/env bash
# Every test there is, from a fresh Debian 12 with Rust: installs what it needs (as root), then runs all stages.
# Usage: ci/test.sh [STAGE...]   stages: format lint unit docs fuzz soak demo interop
set -uo pipefail
cd "$(dirname "$0")/.."

stages=("$@")
[ ${#stages[@]} -gt 0 ] || stages=(format lint unit docs fuzz soak demo interop)
passed=0
failed=0
summary=()

install() {
    local packages=(build-essential ca-certificates git iproute2 iptables kmod libsctp-dev libusrsctp-dev lksctp-tools
        procps socat tcpdump tshark user-mode-linux util-linux)
    if [ "$(id -u)" != 0 ]; then
        echo "not root: nothing is installed, and tests that need namespaces or raw sockets say so and skip"
        return 0
    fi
    export DEBIAN_FRONTEND=noninteractive
    dpkg -s "${packages[@]}" >/dev/null 2>&1 && return 0
    apt-get update -q >/dev/null && apt-get install -q -y --no-install-recommends "${packages[@]}" >/dev/null
}

format() { cargo fmt --all --check; }
lint() { cargo clippy --workspace --all-targets --locked -- -D warnings; }
unit() { cargo test --workspace --locked --no-fail-fast; }
docs() { RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked; }
fuzz() { RUSTFLAGS="--cfg fuzzing" cargo check --manifest-path fuzz/Cargo.toml --locked; }
soak() { cargo run --release --locked -- soak --seeds 2000; }
demo() { cargo run --release --locked -- demo --out "${TMPDIR:-/tmp}/whimbrel-demo-$$.html"; }
interop() {
    if [ "$(id -u)" != 0 ]; then
        echo "skipped: needs root for network namespaces"
        return 0
    fi
    # Real processes and captures on a shared machine: a failure has to repeat itself.
    interop/run.sh || { echo "interop failed once; the second run decides" && interop/run.sh; }
}

run() {
    local name=$1 start=$SECONDS
    echo "=== $name"
    if "$name"; then
        passed=$((passed + 1))
        summary+=("ok      $name, $((SECONDS - start)) s")
    else
        failed=$((failed + 1))
        summary+=("FAILED  $name, $((SECONDS - start)) s")
    fi
    echo "${summary[-1]}"
}

run install
for stage in "${stages[@]}"; do
    case $stage in
    format | lint | unit | docs | fuzz | soak | demo | interop) run "$stage" ;;
    *) echo "ci/test.sh: no stage '$stage'" >&2; exit 2 ;;
    esac
done
echo
printf '%s\n' "${summary[@]}"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
