#!/bin/bash
# gateway_sipp.sh [-c CALLS] [-k] - SIP agents that others wrote, with a gateway of ours.
#
# SIPp (Debian's sip-tester) is the terminal and the correspondent of a handover between two gateways, over UDP in clear and then over TCP, with a
# password (MD5, the only way that it knows): called, sent away, arrived by message 8 at the other gateway, ended. Then as many calls as -c says (100) over
# each, what a wrong password gets, and correspondents that hang up. tshark reads every message of it, and must find nothing malformed. Needs root, sipp,
# tshark. A minute.
set -u
here=$(cd "$(dirname "$0")" && pwd)
keep= calls=100
while getopts kc: option; do
    case $option in
    k) keep=1 ;;
    c) calls=$OPTARG ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
. "$here/../programs.sh"
whimbrel=$(program whimbrel-cli bin whimbrel) || exit
. "$here/gateway_world.sh"
scenarios=$here/../sipp
family=4 over=u1
more_settings='[plain-sip]
digests = ["MD5"]
[[plain-sip.users]]
name = "alice"
password = "secret"
[[plain-sip.users]]
name = "bob"
password = "word"'

# sipp HOST SCENARIO OPTION... - one agent; what it says is in SCENARIO.out
agent() {
    local host=$1 scenario=$2
    shift 2
    (cd "$work/$host" && on "$host" timeout 120 sipp -sf "$scenarios/$scenario.xml" -t $over -nostdin -trace_err -error_file "$work/$scenario.err" "$@" >"$work/$scenario.out" 2>&1)
}
fail() {
    echo "FAIL $case: $*"
    failed=$((failed + 1))
}
begin() {
    local i
    up || exit 1
    for i in 1 2; do on "g$i" "$whimbrel" gateway run "$work/g$i.toml" >"$work/g$i.log" 2>&1 & done
    for i in 1 2; do wait_for "$work/g$i.log" listening || exit 1; done
    on cn tcpdump -Z root -i core -w "$work/core.pcap" -U port 5060 2>/dev/null &
    on g1 tcpdump -Z root -i radio -w "$work/radio.pcap" -U port 5060 2>/dev/null &
    sleep 0.5
}

# challenges AT LEAST - tshark understands every message that there was, and so many of them asked for a password
challenges() {
    local capture malformed count
    sleep 0.3
    for capture in core radio; do
        malformed=$(tshark -r "$work/$capture.pcap" -Y 'sip && _ws.malformed' 2>/dev/null | head -n 3)
        [ -z "$malformed" ] || fail "malformed: $malformed"
    done
    count=$(tshark -r "$work/radio.pcap" -Y 'sip.Status-Code == 401 && sip.auth.algorithm == "MD5"' 2>/dev/null | wc -l)
    [ "$count" -ge "$1" ] || fail "tshark has seen $count challenges"
}

handover() {
    case="a handover between agents of others over $1"
    begin
    agent cn correspondent -i 10.0.0.1 -p 5060 -m 2 &
    local correspondent=$!
    agent mn terminal 10.1.0.1:5060 -i 10.1.0.50 -p 5060 -m 1 -key correspondent 10.0.0.1 -trace_logs -log_file "$work/told" &
    terminal=$!
    wait_for "$work/g1.log" 'session of 10.1.0.50:7000'
    on g1 "$whimbrel" gateway move 10.1.0.50 --to g2 >"$work/move.log" 2>&1 || fail "$(cat "$work/move.log")"
    wait "$terminal" || fail "the terminal: $(tail -n 5 "$work/terminal.err")"
    read -r call from_tag to_tag address gateway <"$work/told"
    ip_in mn link set radio2 up
    ip_in mn addr add "$address/24" dev radio2
    ip_in mn route replace default via "$gateway"
    wait_for "$work/g2.log" 'is expected'
    agent mn arrive "$gateway:5060" -i "$address" -p 5060 -m 1 -cid_str "$call" -key from_tag "$from_tag" -key to_tag "$to_tag" ||
        fail "at the other gateway: $(tail -n 5 "$work/arrive.err")"
    wait "$correspondent" || fail "the correspondent: $(tail -n 5 "$work/correspondent.err")"
    wait_for "$work/g2.log" 'has come after' && wait_for "$work/g2.log" 'is over'
    challenges 1
    echo "$case: told to go to $address at $gateway, and has come"
}

many_calls() {
    case="$calls calls over $1"
    begin
    agent cn answers -i 10.0.0.1 -p 5060 -m "$calls" &
    local correspondent=$!
    agent mn calls 10.1.0.1:5060 -i 10.1.0.50 -p 5060 -m "$calls" -r 20 -l 16 -key correspondent 10.0.0.1 -key callee "" || fail "the terminal: $(tail -n 5 "$work/calls.err")"
    wait "$correspondent" || fail "the correspondent: $(tail -n 5 "$work/answers.err")"
    ended=$(grep -c 'is over' "$work/g1.log")
    [ "$ended" = "$calls" ] || fail "$ended sessions have ended"
    agent mn refused 10.1.0.1:5060 -i 10.1.0.50 -p 5060 -m 1 -key correspondent 10.0.0.1 || fail "a wrong password: $(tail -n 5 "$work/refused.err")"
    wait_for "$work/g1.log" 'no user "alice" with the password'
    challenges $((2 * calls + 2))
    echo "$case: all answered and ended; a wrong password is refused"
}

handover UDP
many_calls UDP
over=t1
handover TCP
many_calls TCP
over=u1

# A user says over TCP where it is, and is called there by one who speaks over UDP; the connection by which it has said so is closed by then.
case="a user that says where it is"
begin
bob() { over=t1 agent cn registers 10.1.0.1:5060 -i 10.0.0.1 -m 1 -key port 5070 -key time "$1" -trace_logs -log_file "$work/places" || fail "bob: $(tail -n 5 "$work/registers.err")"; }
bob 3600
grep -q 'sip:bob@10.0.0.1:5070;transport=.*expires=3600' "$work/places" || fail "it is where? $(cat "$work/places")"
over=t1 agent cn answers -i 10.0.0.1 -p 5070 -m 10 &
correspondent=$!
agent mn calls 10.1.0.1:5060 -i 10.1.0.50 -p 5060 -m 10 -r 20 -l 16 -key correspondent 10.0.0.1 -key callee bob@ || fail "the terminal: $(tail -n 5 "$work/calls.err")"
wait "$correspondent" || fail "bob: $(tail -n 5 "$work/answers.err")"
bob 0
grep -q 'known: $' "$work/places" || fail "it is still there: $(cat "$work/places")"
challenges 20
echo "$case: called there"

case="correspondents that hang up"
begin
agent cn hangs_up -i 10.0.0.1 -p 5060 -m 10 -key gateway 10.1.0.1 &
correspondent=$!
agent mn hung_up 10.1.0.1:5060 -i 10.1.0.50 -p 5060 -m 10 -r 10 -key correspondent 10.0.0.1 || fail "the terminal: $(tail -n 5 "$work/hung_up.err")"
wait "$correspondent" || fail "the correspondent: $(tail -n 5 "$work/hangs_up.err")"
ended=$(grep -c 'is over' "$work/g1.log")
[ "$ended" = 10 ] || fail "$ended sessions have ended"
challenges 10
echo "$case: without a password"

[ "$failed" = 0 ] || echo "$failed failed"
[ "$failed" = 0 ]
