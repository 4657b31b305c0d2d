#!/bin/bash
# gateway_proxy.sh [-k] - Kamailio between agents and a gateway of ours, and baresip as an agent.
#
# The network is that of gateway.sh, and a proxy (px) beside the server. SIPp calls through Kamailio, which stays between (Record-Route), and is handed over
# to the other gateway; once with UDP on both sides of the proxy, and once with TCP between it and the gateway. Then baresip calls through the gateway, says
# where it is (REGISTER), and is called there. Needs root, sipp, tshark, and Debian's kamailio and baresip-core, without which it says so and skips. Half a
# minute.
set -u
here=$(cd "$(dirname "$0")" && pwd)
keep=
while getopts k option; do
    case $option in
    k) keep=1 ;;
    *) sed -n '2,8s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
done
for needed in sipp kamailio baresip; do
    command -v "$needed" >/dev/null || { echo "skipped: there is no $needed (Debian: sip-tester, kamailio, baresip-core)" && exit; }
done
. "$here/../programs.sh"
whimbrel=$(program whimbrel-cli bin whimbrel) || exit
. "$here/gateway_world.sh"
scenarios=$here/../sipp
family=4
hosts+=(px)
more_settings='[plain-sip]
digests = ["MD5"]
proxies = ["10.0.0.9"]
[[plain-sip.users]]
name = "alice"
password = "secret"
[[plain-sip.users]]
name = "bob"
password = "word"'

fail() {
    echo "FAIL $case: $*"
    failed=$((failed + 1))
}
agent() { # HOST SCENARIO OPTION...
    local host=$1 scenario=$2
    shift 2
    (cd "$work/$host" && on "$host" timeout 20 sipp -sf "$scenarios/$scenario.xml" -t "${over:-u1}" -nostdin -trace_err -error_file "$work/$scenario.err" "$@" >"$work/$scenario.out" 2>&1)
}
begin() {
    local i
    up || exit 1
    ip_in core link add ppx type veth peer name core netns "$name-px"
    ip_in core link set ppx master wire up
    ip_in px link set core up
    ip_in px addr add 10.0.0.9/24 dev core
    for i in 1 2; do ip_in px route add "10.$i.0.0/24" via "10.0.0.$((i + 1))"; done
    for i in 1 2; do on "g$i" "$whimbrel" gateway run "$work/g$i.toml" >"$work/g$i.log" 2>&1 & done
    for i in 1 2; do wait_for "$work/g$i.log" listening || exit 1; done
    on px tcpdump -Z root -i core -w "$work/proxy.pcap" -U port 5060 2>/dev/null &
    # -DD: it stays in front, so that it ends with its namespace.
    on px kamailio -DD -E -f "$scenarios/kamailio.cfg" -l udp:10.0.0.9:5060 -l tcp:10.0.0.9:5060 -Y "$work/px" -P "$work/px/pid" >"$work/kamailio.log" 2>&1 &
    for ((i = 0; i < 60; i++)); do on px ss -Hln sport = :5060 2>/dev/null | grep -q 10.0.0.9 && break; sleep 0.05; done
    sleep 0.3
}

# seen AT LEAST FILTER - so many messages of that kind went by the proxy, and none was malformed
seen() {
    local count
    sleep 0.3
    count=$(tshark -r "$work/proxy.pcap" -Y "$2" 2>/dev/null | wc -l)
    [ "$count" -ge "$1" ] || fail "tshark has seen $count of $2"
    count=$(tshark -r "$work/proxy.pcap" -Y 'sip && _ws.malformed' 2>/dev/null | wc -l)
    [ "$count" = 0 ] || fail "$count malformed"
}

handover() { # HOW PARAMETER-OF-THE-URI TRANSPORT
    case="a handover through Kamailio, $1"
    begin
    local correspondent terminal call from_tag to_tag address gateway
    # It is called in the way in which the gateway has been called.
    over=$3 agent cn correspondent -i 10.0.0.1 -p 5060 -m 2 &
    correspondent=$!
    agent mn proxied 10.1.0.1:5060 -rsa 10.0.0.9:5060 -i 10.1.0.50 -p 5060 -m 1 -key how "$2" -key correspondent 10.0.0.1 -trace_logs -log_file "$work/told" &
    terminal=$!
    wait_for "$work/g1.log" 'session of 10.1.0.50:7000' || return
    on g1 "$whimbrel" gateway move 10.1.0.50 --to g2 >"$work/move.log" 2>&1 || fail "$(cat "$work/move.log")"
    wait "$terminal" || fail "the terminal: $(tail -n 5 "$work/proxied.err")"
    read -r call from_tag to_tag address gateway <"$work/told"
    ip_in mn link set radio2 up
    ip_in mn addr add "$address/24" dev radio2
    ip_in mn route replace default via "$gateway"
    agent mn arrive "$gateway:5060" -i "$address" -p 5060 -m 1 -cid_str "$call" -key from_tag "$from_tag" -key to_tag "$to_tag" ||
        fail "at the other gateway: $(tail -n 5 "$work/arrive.err")"
    wait "$correspondent" || fail "the correspondent: $(tail -n 5 "$work/correspondent.err")"
    wait_for "$work/g2.log" 'has come after' && wait_for "$work/g2.log" 'is over'
    # Message 5A comes from the gateway by Route.
    seen 1 'sip.Method == "INVITE" && sip.Route && sip.to.tag'
    [ -z "$2" ] || seen 1 'tcp && sip.Status-Code == 200'
    echo "$case: told to go to $address at $gateway, and has come"
}

# agent_that_talks HOST ADDRESS ACCOUNT OPTION... - an agent that answers all calls; what it says is in HOST/baresip.log
agent_that_talks() {
    local host=$1 address=$2 account=$3
    shift 3
    mkdir -p "$work/$host/baresip"
    printf '%s\n' 'module_path /usr/lib/baresip/modules' "sip_listen $address:5060" 'audio_source aubridge,a' 'audio_player aubridge,a' 'audio_alert aubridge,b' \
        'module g711.so' 'module aubridge.so' 'module_app account.so' 'module_app menu.so' >"$work/$host/baresip/config"
    echo "$account;answermode=auto" >"$work/$host/baresip/accounts"
    : >"$work/$host/baresip/contacts"
    on "$host" timeout 20 baresip -f "$work/$host/baresip" -v "$@" </dev/null >"$work/$host/baresip.log" 2>&1
}

talk() {
    local bob
    case="baresip"
    begin
    agent_that_talks cn 10.0.0.1 '<sip:bob@10.1.0.1>;auth_user=bob;auth_pass=word;regint=60' -t 9 &
    bob=$!
    wait_for "$work/cn/baresip.log" '200 OK.*bob@10.1.0.1\|bob@10.1.0.1.*200 OK' || return
    agent mn calls 10.1.0.1:5060 -i 10.1.0.50 -p 5070 -m 1 -key correspondent 10.0.0.1 -key callee bob@ || fail "SIPp does not reach it: $(tail -n 5 "$work/calls.err")"
    echo "$case: says where it is, and is called there by SIPp"
    agent_that_talks mn 10.1.0.50 '<sip:alice@10.1.0.1>;auth_user=alice;auth_pass=secret;regint=0;outbound="sip:10.0.0.9"' -t 3 -e '/dial sip:bob@10.1.0.1'
    wait_for "$work/g1.log" 'session of 10.1.0.50:7000' 1 && wait_for "$work/g1.log" '10.1.0.50:7000.*is over' 2
    wait "$bob"
    grep -q 'Call established' "$work/mn/baresip.log" || fail "the caller: $(tail -n 5 "$work/mn/baresip.log")"
    # The call is ended by the caller, within the dialog and so by Route, with its password.
    seen 1 'sip.Method == "BYE" && sip.auth.username'
    echo "$case: two of them talk through Kamailio and the gateway"
}

handover "UDP" "" u1
handover "TCP at the gateway" ";transport=tcp" t1

talk

[ "$failed" = 0 ] || echo "$failed failed"
[ "$failed" = 0 ]
