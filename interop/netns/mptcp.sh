# Sourced: how the kernel's MPTCP learns of addresses, as soon as they are there: as a good network manager would have it.
# On the mobile node each is announced as the end of a subflow and has a routing table of its own; the correspondent node's are signalled.
# shellcheck shell=bash

mptcp_ready() {
    local ns link table=100
    for ns in mn cn; do
        ip netns exec "$name-$ns" sysctl -qw net.mptcp.enabled=1
        ip netns exec "$name-$ns" ip mptcp limits set subflow 8 add_addr_accepted 8
    done
    for link in "${links[@]}"; do
        table=$((table + 1))
        on_mn ip rule add from "${net_of[$link]}.0/24" table $table
        [ "$families" = 4 ] || on_mn ip -6 rule add from "${net6_of[$link]}::/64" table $table
    done
}

# mptcp_follow_mn, mptcp_follow_cn: follow a host's addresses until the namespace goes.
mptcp_follow_mn() { mptcp_follow mn; }
mptcp_follow_cn() { mptcp_follow cn; }
mptcp_follow() {
    local -A announced=()
    local changes now seen=
    # Each change of a link or an address is a line or more; a second without any is time to look again.
    exec {changes}< <(ip -n "$name-$1" monitor link address 2>/dev/null)
    while :; do
        # Nothing but what is up.
        now=$(ip -n "$name-$1" -o addr show up scope global 2>/dev/null)
        [ "$now" = "$seen" ] || "mptcp_tell_$1" "$now"
        seen=$now
        read -r -t 1 -u "$changes" _ || [ $? -gt 128 ] || return
    done
}

# mptcp_tell_mn, mptcp_tell_cn LISTING: announces what has changed
mptcp_tell_mn() {
    local link id=100
    for link in "${links[@]}"; do
        id=$((id + 1))
        mptcp_announce mn $id "mn-$link" "$(address_of "$1" "mn-$link" inet)" subflow "via ${net_of[$link]}.1 table $id"
        [ "$families" = 4 ] || mptcp_announce mn $((id + 10)) "mn-$link" "$(address_of "$1" "mn-$link" inet6)" subflow \
            "via ${net6_of[$link]}::1 table $id"
    done
}
mptcp_tell_cn() {
    local link
    for link in 1 2; do
        mptcp_announce cn $link "core$link" "$(address_of "$1" "core$link" inet)" signal
        mptcp_announce cn $((link + 10)) "core$link" "$(address_of "$1" "core$link" inet6)" signal
    done
}

# address_of LISTING DEVICE inet|inet6
address_of() { sed -n "s|^[0-9]*: $2 .* $3 \([0-9a-f.:]*\)/.*|\1|p" <<<"$1" | head -n 1; }

# mptcp_announce mn|cn ID DEVICE ADDRESS FLAG [ROUTE]: what the endpoint ID is from now on, if it was something else
mptcp_announce() {
    local ns=$name-$1 id=$2 device=$3 address=$4 flag=$5 route=${6:-}
    [ "$address" != "${announced[$id]:-}" ] || return 0
    [ -z "${announced[$id]:-}" ] || ip -n "$ns" mptcp endpoint delete id "$id" 2>/dev/null
    if [ -n "$address" ]; then
        # shellcheck disable=SC2086
        [ -z "$route" ] || ip -n "$ns" route replace default $route dev "$device" 2>/dev/null
        ip -n "$ns" mptcp endpoint add "$address" id "$id" $flag dev "$device" 2>/dev/null
    fi
    announced[$id]=$address
}
