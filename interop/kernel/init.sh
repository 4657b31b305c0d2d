#!/bin/bash
# First process of the guest, started by `peer up`. The root file system is the host's, read-only,
# so every program of the host runs here by its path. Few processes: starting one is slow.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run
mount -t proc proc /proc
mount -t tmpfs tmpfs /run
mount -t sysfs sys /sys
[ -e /dev/null ] || mount -t devtmpfs dev /dev
read -r -a words </proc/cmdline
for word in "${words[@]}"; do case $word in peer_*=*) declare "$word" ;; esac; done
ln -s /proc/self/fd /dev/fd 2>/dev/null
mkdir -p /run/share /run/modules/lib
mount -t hostfs -o "$peer_share" none /run/share
ln -s /usr/lib/uml/modules /run/modules/lib/modules
# What the kernel asks for by itself: hmac, sha1, netem, udp tunnels.
printf '#!/bin/sh\nexec /sbin/modprobe -d /run/modules "$@"\n' >/run/modprobe
chmod +x /run/modprobe
echo /run/modprobe >/proc/sys/kernel/modprobe
modprobe -d /run/modules sctp

# The control link lives in its own namespace, so that no INIT lists its address.
{
    echo "link set lo up"
    echo "netns add control"
    echo "link set vec0 netns control"
    for ((i = 1; i <= peer_links; i++)); do
        echo "link set vec$i name eth$i"
        echo "addr add $peer_net.$i.2/24 dev eth$i"
        echo "addr add fd13:2::$i:2/112 dev eth$i nodad"
        # Without this the driver loses packets that SCTP lets be cut up below it (over UDP most of them).
        echo "link set eth$i gso_max_size 1500"
        echo "link set eth$i up"
    done
    echo "netns attach peer $$"
} | ip -batch -
printf '%s\n' "addr add $peer_net.0.2/24 dev vec0" "link set vec0 up" | ip -n control -batch -
setting() { echo "$2" >"/proc/sys/$1" || echo "cannot set $1"; }
setting net/ipv4/conf/all/rp_filter 0
setting net/core/rmem_max 8388608
setting net/core/wmem_max 8388608
echo ready
exec nsenter --net=/run/netns/control socat -t 86400 \
    TCP-LISTEN:7,bind="$peer_net.0.2",reuseaddr,fork,max-children=64,nodelay \
    "EXEC:nsenter --net=/run/netns/peer ${0%/*}/agent.sh"
