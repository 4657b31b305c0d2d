# Sourced by run.sh: the stacks that WebRTC implementations bring, over UDP: pion (Go), dcsctp and sctp-proto (Rust). They have one path, and both
# SCTP ports are 5000. What is sent is that of common/assorted.rs: sizes from 1 byte to 256 KiB, ordered on even streams, unordered on odd ones.
# Wants $our_host and what helpers.sh has; $them is the stack of the case, in $stacks are those that can be built here.
# shellcheck shell=bash
stacks=()
# Each has UDP ports of its own, so that all can run at once: theirs, ours, and two of a relay.
declare -A first_port=([pion]=9899 [dcsctp]=9903 [sctp-proto]=9907)
webrtc_ports=9899-9910
assorted="--send 64 --streams 4 --expect 64"
all_assorted=$(received 64 2079148)

build_webrtc() {
    cargo build --release --locked --quiet --manifest-path webrtc/Cargo.toml --target-dir "$target" || return
    relay=$(program whimbrel-emulator example relay) || return
    stacks=(dcsctp sctp-proto)
    # Debian's would stay at its own version; this fetches the one that go.mod asks for.
    if [[ $(GOTOOLCHAIN=local go version 2>/dev/null) =~ go1\.(2[1-9]|[3-9]) ]]; then
        (cd pion && GOTOOLCHAIN=auto go build -mod=readonly -trimpath -o "$build/pion-peer" .) || return
        stacks=(pion "${stacks[@]}")
    else
        echo "skipped: pion needs Go 1.21 or later, which is not there"
    fi
}

webrtc_assorted() {
    pair theirs --listen $assorted -- ours $to_theirs $assorted
    check "every size, both ways, ours connects and shuts down" first "$all_assorted" "$graceful" -- second "$all_assorted" "$graceful"
    pair ours --listen $assorted -- theirs $to_ours $assorted
    check "every size, both ways, theirs connects and shuts down" first "$all_assorted" "$graceful" -- second "$all_assorted" "$graceful"
}

webrtc_shutdown_by_listener() {
    local few="--send 4 --streams 2 --expect 4" all
    all=$(received 4 11)
    pair ours --listen $few --close shutdown -- theirs $to_ours $few --close wait
    check "we shut down what they began" first "$all" "$graceful" -- second "$all" "$graceful"
    pair theirs --listen $few --close shutdown -- ours $to_theirs $few --close wait
    check "they shut down what we began" first "$all" "$graceful" -- second "$all" "$graceful"
}

# Nothing was said, and the association ends as soon as it has begun: whatever a SHUTDOWN acknowledges, there was nothing to acknowledge.
webrtc_speechless() {
    local time
    for time in 1 2 3 4 5 6; do
        pair ours --listen -- theirs $to_ours
        grep -qE "$graceful" "$work/first" && grep -qE "$graceful" "$work/second" || break
    done
    check "they shut down at once, $time times" first "$graceful" -- second "$graceful"
}

webrtc_aborts() {
    local few="--send 4 --streams 2" all
    all=$(received 4 11)
    pair theirs --listen -- ours $to_theirs $few $hold --close abort --abort-text enough
    case $them in
    sctp-proto) check "our ABORT" first "$all" '"how":"lost"' ;;
    *) check "our ABORT and its reason" first "$all" '"how":"lost".*enough' ;;
    esac
    [ "$them" != sctp-proto ] || return # it sends none
    pair ours --listen -- theirs $to_ours $few $hold --close abort
    check "their ABORT and its reason" first "$all" '"how":"lost","cause":12,"text":"(bye|Close called)"'
}

# Our INIT lists ASCONF, ASCONF ACK and AUTH (RFC 5061 section 4.2.7). Our INIT ACK to a peer that has offered no authentication lists none of
# them: ASCONF without AUTH must not be used, and who lists it without AUTH would be refused by some (docs/decisions/0018).
webrtc_extensions() {
    local few="--send 4 --streams 2 --expect 4" all
    all=$(received 4 11)
    pair theirs --listen $few -- ours $to_theirs --asconf $few
    check "we offer what they do not have" first "$all" "$graceful" -- second "$all" '"mobility":"Static' "$graceful"
    pair ours --listen --asconf $few -- theirs $to_ours $few
    check "they do not have what we offer" first "$all" '"mobility":"Static' "$graceful" -- second "$all" "$graceful"
}
# listed_by_us FILE CHUNK-TYPE: the chunk types that our INITs (1) or INIT ACKs (2) say we support.
listed_by_us() {
    tshark -n -d "udp.port==$webrtc_ports,sctp" -r "$1" -Y "ip.src==$our_first && sctp.chunk_type==$2" -T fields \
        -e sctp.supported_chunk_type 2>/dev/null | sort -u | paste -sd' '
}
webrtc_extensions_listed() {
    local file="$work/${part// /-}-webrtc_extensions.pcap" chunk listed
    # shellcheck disable=SC2053
    [[ webrtc_extensions == ${ONLY:-*} ]] || return
    running=(webrtc_extensions)
    record "$our_host" "$file"
    webrtc_extensions
    stop_recording "$file"
    for chunk in 1:15,193,128 2:; do
        listed=$(listed_by_us "$file" "${chunk%%:*}")
        if [ "$listed" = "${chunk#*:}" ]; then
            pass "chunk type ${chunk%%:*} lists ${listed:-nothing} of AUTH, ASCONF and ASCONF ACK"
        else
            fail "chunk type ${chunk%%:*} lists ${listed:-nothing} instead of ${chunk#*:}"
        fi
    done
    judge_recording "$file" INIT INIT_ACK DATA
}

# each_stack FUNCTION: for all at once, each with a directory of its own.
each_stack() {
    local them all_work=$work running_ones=()
    for them in "${stacks[@]}"; do
        mkdir -p "$all_work/$them"
        (work=$all_work/$them && "$1") &
        running_ones+=($!)
    done
    wait "${running_ones[@]}"
}
# check_each NAME CHECK-ARGUMENTS...: what each_stack has left of each.
check_each() {
    local them all_work=$work what=$1
    shift
    for them in "${stacks[@]}"; do
        local work=$all_work/$them
        check "$them: $what" "$@"
    done
}

# Unanswered, three HEARTBEATs would have made the path unreachable after some 6 s.
idle_for_long() {
    pair theirs --listen --echo --heartbeat 300 --timeout 60 -- ours $to_theirs --send 32 --streams 2 --expect 32 --heartbeat 200 \
        --rto-min 500 --rto-initial 500 --rto-max 1000 --pmr 2 --hold 12000 --timeout 60
}
webrtc_idle() {
    local all
    all=$(received 32 1039574)
    each_stack idle_for_long
    check_each "idle for 12 s, HEARTBEATs answered" first "$all" "$graceful" -- second "$all" '"status","paths":.*"state":"Active"' "$graceful"
    # Probes with padding get an answer, too: that large packets pass is found out. pion and sctp-proto drop a packet with a chunk that they
    # do not know (PAD), against RFC 9260 section 3.2, and keep packets of the base size.
    local stacks=(dcsctp)
    check_each "packets of 1,452 bytes are found to pass" second '"packet":1452'
}

# behind_relay LISTENER-ADDRESS:PORT LOSS: a network that loses LOSS of 100 packets, delivers 5 late and 1 twice.
behind_relay() {
    local port=${first_port[$them]}
    : >"$work/relay"
    ip netns exec "$our_host" "$relay" --listen "$our_first:$((port + 2))" --exit "$our_first:$((port + 3))" --towards "$1" --delay 5 \
        --loss "$2" --reorder 5 --duplicate 1 >"$work/relay" 2>&1 &
    relay_pid=$!
    said "$work/relay" listening
}
# We end both. When our SHUTDOWN COMPLETE is lost and our program has left, they go on asking for it until they give up.
lossy_each_way() {
    local webrtc_patience=25 port=${first_port[$them]} both="--send 32 --streams 2 --expect 32" relay_pid
    local remote_port=$((port + 2))
    behind_relay "$their_first:$port" 1
    pair theirs --listen $both -- ours --connect "$our_first" $both
    kill $relay_pid && wait $relay_pid 2>/dev/null
    mv "$work/first" "$work/theirs-listened" && mv "$work/second" "$work/ours-connected"
    behind_relay "$our_first:$((port + 1))" 5
    pair ours --listen $both --close shutdown -- theirs $to_ours $both --close wait
    kill $relay_pid && wait $relay_pid 2>/dev/null
}
webrtc_lossy() {
    local all
    all=$(received 32 1039574)
    each_stack lossy_each_way
    # It was as bad as it should be: what was lost is sent again.
    local again='"fast_retransmits":[1-9]'
    check_each "1 % lost, 5 % late, 1 % twice, ours connects" ours-connected "$all" "$again" "$graceful" -- theirs-listened "$all"
    check_each "5 % lost, 5 % late, 1 % twice, theirs connects" first "$all" "$again" "$graceful" -- second "$all"
}

webrtc_part() {
    local our_host=$name-a our_first=10.131.1.1 their_first=10.131.1.2 udp_ports=$webrtc_ports part them
    local to_ours="--connect $our_first" to_theirs="--connect $their_first"
    # Ours and theirs for $them, as the other parts have them. With $remote_port the other end is a relay there.
    ours() {
        local port=${first_port[$them]}
        on_a "$whimbrel" --timeout "${webrtc_patience:-15}" --assorted --bind "$our_first" --udp $((port + 1)) \
            --udp-remote "${remote_port:-$port}" --port 5000 --remote-port 5000 "$@"
    }
    theirs() {
        local port=${first_port[$them]} program=("$target/release/webrtc-peer" --stack "$them")
        [ "$them" != pion ] || program=("$build/pion-peer")
        on_b "${program[@]}" --timeout "${webrtc_patience:-15}" --bind "$their_first" --udp "$port" \
            --udp-remote "${remote_port:-$((port + 1))}" "$@"
    }
    running=('*')
    build_webrtc || { fail "the peers of WebRTC cannot be built" && return; }
    topology_up "$name" || { fail "no network namespaces" && return; }
    wire_packets link1 link2 lo # where the relay is
    for them in "${stacks[@]}"; do
        part="$them over UDP"
        echo "--- $part"
        cases webrtc_assorted webrtc_shutdown_by_listener webrtc_speechless webrtc_aborts
        webrtc_extensions_listed
    done
    part="WebRTC stacks at once"
    echo "--- $part"
    cases webrtc_idle
    cases webrtc_lossy
    topology_down "$name"
}
