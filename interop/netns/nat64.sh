# Sourced: a network that is IPv6 only and translates (NAT64, RFC 6146), by tayga: with the well-known prefix (RFC 6052), or with one of its own
# that its routers tell (RFC 8781). Needs families=46.
# shellcheck shell=bash

# nat64_of ADDRESS: what an IPv4 address is called there (RFC 6052)
nat64_of() {
    local a b c d
    IFS=. read -r a b c d <<<"$1"
    printf '64:ff9b::%x:%x\n' $((a * 256 + b)) $((c * 256 + d))
}

# nat64_up [PREFIX]: 96 bits
nat64_up() {
    local prefix=${1:-64:ff9b::/96}
    mkdir -p "$work/tayga"
    cat >"$work/tayga.conf" <<END
tun-device nat64
ipv4-addr 192.0.2.129
ipv6-addr 2001:db8:63::1
prefix $prefix
dynamic-pool 192.0.2.128/25
data-dir $work/tayga
END
    on_net tayga --config "$work/tayga.conf" --mktun >/dev/null || return
    ip -n "$name-net" link set nat64 up
    ip -n "$name-net" route add 192.0.2.128/25 dev nat64
    ip -n "$name-net" route add "$prefix" dev nat64
    ip netns exec "$name-net" tayga --config "$work/tayga.conf" --nodetach >"$work/tayga.log" 2>&1 &
}

# nat64_told LINK... PREFIX: routers on these links say so, several times a second as to hosts that move (RFC 6275 section 7.5). The mobile node
# listens; it takes nothing else from them.
nat64_told() {
    local prefix=${!#} link
    for link in "${@:1:$#-1}"; do
        on_mn sysctl -qw "net.ipv6.conf.mn-$link.accept_ra=1" "net.ipv6.conf.mn-$link.autoconf=0"
        ip netns exec "$name-net" python3 "$here/router.py" "ap-$link" "$prefix" 2>"$work/router-$link.log" &
        helpers+=($!)
    done
}

# nat64_known LINK PREFIX: no router says so, but the network's resolver knows it (RFC 7050). `ip netns exec` takes the file for the mobile node's
# /etc/resolv.conf.
nat64_known() {
    mkdir -p "/etc/netns/$name-mn"
    echo "nameserver ${net6_of[$1]}::1" >"/etc/netns/$name-mn/resolv.conf"
    ip netns exec "$name-net" python3 "$here/dns64.py" "${net6_of[$1]}::1" "$2" 2>"$work/resolver.log" &
    helpers+=($!)
}
nat64_down() { rm -rf "/etc/netns/$name-mn" && rmdir /etc/netns 2>/dev/null; }
