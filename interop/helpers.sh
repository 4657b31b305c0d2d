# Sourced by run.sh and selftest.sh: two programs at a time, what they must have said, and captures.
# Wants $here (this directory), $work (a directory for files) and $name (prefix of the namespaces).
# shellcheck shell=bash
. "$here/topology.sh"
build=$here/build
# Seconds after which a peer gives up: far more than a transfer takes on a busy machine.
patience=180
export PEER_NAME=${name}k
passed=0
failed=0
# The cases under way, by function name, and those of which something failed.
running=()
failed_cases=()
capture=
# Where SCTP is expected over UDP.
udp_ports=9899-9900

cleanup() {
    [ -n "$capture" ] && kill "$capture" 2>/dev/null
    topology_down "$name"
    "$here/kernel/peer" down
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

# on_a, on_b: the hosts of topology.sh. guest: inside the kernel peer; tester: the other end of its links.
on_a() { ip netns exec "$name-a" "$@"; }
on_b() { ip netns exec "$name-b" "$@"; }
guest() { "$here/kernel/peer" exec "$@"; }
tester() { ip netns exec "$PEER_NAME" "$@"; }

pass() {
    passed=$((passed + 1))
    echo "ok   $*"
}
fail() {
    failed=$((failed + 1))
    failed_cases+=("${running[@]}")
    echo "FAIL $*"
}

# said FILE PATTERN: waits up to a minute for the pattern in a file that is being written.
said() {
    local end=$((SECONDS + 60))
    until grep -q "$2" "$1"; do
        [ $SECONDS -lt $end ] || return
        sleep 0.02
    done
}

# pair LISTENER... -- CONNECTOR...: starts the second when the first listens, waits for both.
# What they say is in $work/first and $work/second.
pair() {
    local first=()
    while [ "$1" != -- ]; do first+=("$1") && shift; done
    shift
    : >"$work/first" # or the last pair's could be taken for this one's
    : >"$work/second"
    "${first[@]}" >"$work/first" 2>&1 &
    local listener=$!
    said "$work/first" '"listening"'
    "$@" >"$work/second" 2>&1
    wait "$listener"
}

# check NAME FILE PATTERN... [-- FILE PATTERN...]: every pattern must be found in its file of `pair`.
check() {
    local what=$1 file=$work/$2
    shift 2
    while [ $# -gt 0 ]; do
        if [ "$1" = -- ]; then
            file=$work/$2
            shift 2
        elif grep -qE "$1" "$file"; then
            shift
        else
            fail "$what: no $1 in ${file##*/}"
            for one in $(printf '%s\n' first second "${file##*/}" | sort -u); do cut -c1-400 "$work/$one" | tail -15 | sed "s/^/     $one: /"; done
            return
        fi
    done
    pass "$what"
}

# received MESSAGES BYTES: the pattern of a report that so much arrived, all of it right.
received() { echo "\"received\",\"messages\":$1,\"bytes\":$2,\"bad\":0.*\"ok\":true"; }

# record NAMESPACE FILE starts a capture, stop_recording FILE ends it, judge_recording FILE [CHUNK...] checks it: these chunks
# must be in it, or have been among the $dropped that tcpdump was too slow for. recorded FILE [CHUNK...] does the last two.
record() {
    : >"$work/tcpdump" # or the last capture's could be taken for this one's
    ip netns exec "$1" tcpdump --immediate-mode -B 65536 -U -n -i any -s 0 -w "$2" "sctp or udp portrange $udp_ports" 2>"$work/tcpdump" &
    capture=$!
    said "$work/tcpdump" listening
}
stop_recording() {
    local file=$1 size now=-1 quiet=0
    # tcpdump throws away what it has not read yet when it is told to end. It has read all when it sleeps (S), not
    # when it waits for a processor (R) or the disk (D).
    while [ $quiet -lt 5 ] && kill -0 "$capture" 2>/dev/null; do
        sleep 0.1
        size=$now now=$(stat -c %s "$file")
        if [ "$size" = "$now" ] && grep -q '^State:.S' "/proc/$capture/status" 2>/dev/null; then quiet=$((quiet + 1)); else quiet=0; fi
    done
    kill "$capture" && wait "$capture" 2>/dev/null
    capture=
    dropped=$(sed -n 's/ packets dropped by kernel//p' "$work/tcpdump")
}
judge_recording() {
    local file=$1 summary bad=0
    shift
    summary=$("$here/check_capture.sh" -p "$udp_ports" "$file") || bad=1
    for chunk in "$@"; do
        case $summary in
        *" $chunk="*) ;;
        *) summary+="; no $chunk in it" && [ "${dropped:-0}" = 0 ] && bad=1 ;;
        esac
    done
    summary="${summary#*: }${dropped:+; $dropped not captured}"
    if [ $bad = 0 ]; then pass "capture: $summary"; else fail "capture ${file##*/}: $summary"; fi
    [ -z "${KEEP:-}" ] || cp "$file" "$KEEP/"
    rm -f "$file"
}
recorded() {
    stop_recording "$1"
    judge_recording "$@"
}

# authenticated_with FILE: "sha1|sha256 key N" of the AUTH chunks, one line for each that differs.
authenticated_with() {
    tshark -n -d udp.port==9899,sctp -d udp.port==9900,sctp -r "$1" -Y sctp.shared_key_id -T fields -e sctp.hmac_id \
        -e sctp.shared_key_id 2>/dev/null | sort -u | awk '{ print ($1 == 1 ? "sha1" : $1 == 3 ? "sha256" : $1) " key " $2 }'
}
