# Sourced: stops and continues the program that sends and receives on a host, by the cgroup freezer, or by signals where that is not to be had.
# shellcheck shell=bash

# The processes of the mover in a namespace: mn or cn.
movers_of() {
    local pid
    for pid in $(ip netns pids "$name-$1"); do
        [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != whimbrel-mover ] || echo "$pid"
    done
}

# freeze mn|cn
freeze() {
    local pid group=
    if [ -d /sys/fs/cgroup/freezer ]; then
        group=/sys/fs/cgroup/freezer/$name-$1
    elif [ -f /sys/fs/cgroup/cgroup.controllers ]; then
        group=/sys/fs/cgroup/$name-$1
    fi
    if [ -n "$group" ] && mkdir "$group" 2>/dev/null; then
        for pid in $(movers_of "$1"); do echo "$pid" >"$group/cgroup.procs"; done
        if [ -f "$group/freezer.state" ]; then echo FROZEN >"$group/freezer.state"; else echo 1 >"$group/cgroup.freeze"; fi
    else
        for pid in $(movers_of "$1"); do kill -STOP "$pid"; done
    fi
}

# thaw mn|cn: also where nothing is frozen. What is frozen does not end when it is told to.
thaw() {
    local pid group root
    for group in "/sys/fs/cgroup/freezer/$name-$1" "/sys/fs/cgroup/$name-$1"; do
        [ -d "$group" ] || continue
        if [ -f "$group/freezer.state" ]; then echo THAWED >"$group/freezer.state"; else echo 0 >"$group/cgroup.freeze"; fi
        root=${group%/*}
        for pid in $(cat "$group/cgroup.procs"); do echo "$pid" >"$root/cgroup.procs"; done
        rmdir "$group"
        return
    done
    for pid in $(movers_of "$1"); do kill -CONT "$pid"; done
}
