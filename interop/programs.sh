# Sourced: the programs of this repository that a script runs.
# shellcheck shell=bash
#
# Environment: PROGRAMS=DIR  they have been built already, and are there (ci/test.sh)
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# program PACKAGE bin|example NAME - builds it, unless it has been, and says where it is.
program() {
    local directory=${PROGRAMS:-${CARGO_TARGET_DIR:-$repository/target}/release}
    [ "$2" = bin ] || directory+=/${2}s
    if [ -z "${PROGRAMS:-}" ]; then
        cargo build -q --release --locked --manifest-path "$repository/Cargo.toml" -p "$1" "--$2" "$3" >&2 || return
    fi
    echo "$directory/$3"
}
