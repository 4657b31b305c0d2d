# Sourced: a network that is IPv6 only and translates (NAT64, RFC 6146) with the well-known prefix (RFC 6052), by tayga. Needs families=46.
# shellcheck shell=bash

# nat64_of ADDRESS: what an IPv4 address is called there (RFC 6052)
nat64_of() {
    local a b c d
    IFS=. read -r a b c d <<<"$1"
    printf '64:ff9b::%x:%x\n' $((a * 256 + b)) $((c * 256 + d))
}

nat64_up() {
    mkdir -p "$work/tayga"
    cat >"$work/tayga.conf" <<END
tun-device nat64
ipv4-addr 192.0.2.129
ipv6-addr 2001:db8:64::1
prefix 64:ff9b::/96
dynamic-pool 192.0.2.128/25
data-dir $work/tayga
END
    on_net tayga --config "$work/tayga.conf" --mktun >/dev/null || return
    ip -n "$name-net" link set nat64 up
    ip -n "$name-net" route add 192.0.2.128/25 dev nat64
    ip -n "$name-net" route add 64:ff9b::/96 dev nat64
    ip netns exec "$name-net" tayga --config "$work/tayga.conf" --nodetach >"$work/tayga.log" 2>&1 &
}
