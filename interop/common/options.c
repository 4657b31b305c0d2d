#include <arpa/inet.h>
#include <getopt.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static const char usage_text[] =
    "usage: %s --listen | --connect ADDR[,ADDR...] [options]      (peer on %s)\n"
    "\n"
    "  --bind ADDR[,ADDR...]   local addresses (default: all)\n"
    "  --port N                local SCTP port (default 5001 for --listen, else any)\n"
    "  --remote-port N         peer's SCTP port (default 5001)\n"
    "  --udp N                 local UDP encapsulation port (default 0: raw IP)\n"
    "  --udp-remote N          peer's UDP encapsulation port (default: that of --udp)\n"
    "  --at SECONDS            connect at this time since the epoch (INIT collision)\n"
    "  --accept N              listen: take N associations one after another (default 1)\n"
    "\n"
    "  --send N                send N messages ...\n"
    "  --size BYTES            ... of this size (default 1024) ...\n"
    "  --streams K             ... round robin over streams 0..K-1 (default 1)\n"
    "  --unordered             ... unordered\n"
    "  --echo                  send every message back on its stream\n"
    "  --expect N              wait for N messages before closing\n"
    "  --progress BYTES        report \"progress\" each time so much has arrived\n"
    "  --hold MS               stay up so long before closing\n"
    "  --close HOW             shutdown (default for --connect), abort, vanish, wait (default for --listen)\n"
    "  --abort-text TEXT       reason carried in the ABORT\n"
    "  --stdin                 then take commands: send N SIZE STREAM | status | primary ADDR |\n"
    "                          expect N | shutdown | abort TEXT | vanish, and those of --change\n"
    "  --asconf                support changes of address (RFC 5061) with authentication (RFC 4895)\n"
    "  --auto-asconf           ... and follow the host's addresses (Linux only; without --bind)\n"
    "  --change COMMAND        add ADDR | remove ADDR | ask-primary ADDR | await ADDR: of our own, at the next progress;\n"
    "                          sending stops half way until all of these are done\n"
    "  --auth-key ID:TEXT      endpoint pair shared key\n"
    "  --hmac sha1|sha256      what the peer is to authenticate with\n"
    "  --timeout SECONDS       give up, exit status 3 (default 60)\n"
    "\n"
    "  --rto-min MS --rto-initial MS --rto-max MS (min <= initial <= max, defaults 1, 3, 60 s) --pmr N --amr N --init-retransmits N\n"
    "  --heartbeat MS (0: off) --sack-delay MS --sack-freq N --path-mtu BYTES\n"
    "  --sndbuf BYTES --rcvbuf BYTES (default 4 MiB) --streams-out N --streams-in N (default 1024)\n"
    "  --max-message BYTES     largest message taken (default 1 MiB)\n"
    "  --plain                 announce no extensions (usrsctp only)\n"
    "  --cmt off|on|rpv1|rpv2|mptcp   new data on all paths at once, uncoupled or coupled (usrsctp only)\n"
    "  --dac                   ... with delayed acknowledgements for that\n"
    "  --nr-sack               offer NR-SACK (usrsctp only)\n";

enum { OPTION_FIRST = 256 };
enum option_id {
    LISTEN = OPTION_FIRST, CONNECT, BIND, PORT, REMOTE_PORT, UDP, UDP_REMOTE, AT, ACCEPT, SEND, SIZE, STREAMS,
    UNORDERED, ECHO, EXPECT, PROGRESS, HOLD, CLOSE, ABORT_TEXT, COMMANDS, TIMEOUT, RTO_MIN, RTO_INITIAL, RTO_MAX,
    PMR, AMR, INIT_RETRANSMITS, HEARTBEAT, SACK_DELAY, SACK_FREQ, PATH_MTU, SNDBUF, RCVBUF, STREAMS_OUT,
    STREAMS_IN, MAX_MESSAGE, PLAIN, ASCONF, AUTO_ASCONF, CHANGE, AUTH_KEY, HMAC, CMT, DAC,
    NR_SACK, HELP,
};

static const struct option long_options[] = {
    {"listen", no_argument, NULL, LISTEN},
    {"connect", required_argument, NULL, CONNECT},
    {"bind", required_argument, NULL, BIND},
    {"port", required_argument, NULL, PORT},
    {"remote-port", required_argument, NULL, REMOTE_PORT},
    {"udp", required_argument, NULL, UDP},
    {"udp-remote", required_argument, NULL, UDP_REMOTE},
    {"at", required_argument, NULL, AT},
    {"accept", required_argument, NULL, ACCEPT},
    {"send", required_argument, NULL, SEND},
    {"size", required_argument, NULL, SIZE},
    {"streams", required_argument, NULL, STREAMS},
    {"unordered", no_argument, NULL, UNORDERED},
    {"echo", no_argument, NULL, ECHO},
    {"expect", required_argument, NULL, EXPECT},
    {"progress", required_argument, NULL, PROGRESS},
    {"hold", required_argument, NULL, HOLD},
    {"close", required_argument, NULL, CLOSE},
    {"abort-text", required_argument, NULL, ABORT_TEXT},
    {"stdin", no_argument, NULL, COMMANDS},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"rto-min", required_argument, NULL, RTO_MIN},
    {"rto-initial", required_argument, NULL, RTO_INITIAL},
    {"rto-max", required_argument, NULL, RTO_MAX},
    {"pmr", required_argument, NULL, PMR},
    {"amr", required_argument, NULL, AMR},
    {"init-retransmits", required_argument, NULL, INIT_RETRANSMITS},
    {"heartbeat", required_argument, NULL, HEARTBEAT},
    {"sack-delay", required_argument, NULL, SACK_DELAY},
    {"sack-freq", required_argument, NULL, SACK_FREQ},
    {"path-mtu", required_argument, NULL, PATH_MTU},
    {"sndbuf", required_argument, NULL, SNDBUF},
    {"rcvbuf", required_argument, NULL, RCVBUF},
    {"streams-out", required_argument, NULL, STREAMS_OUT},
    {"streams-in", required_argument, NULL, STREAMS_IN},
    {"max-message", required_argument, NULL, MAX_MESSAGE},
    {"plain", no_argument, NULL, PLAIN},
    {"asconf", no_argument, NULL, ASCONF},
    {"auto-asconf", no_argument, NULL, AUTO_ASCONF},
    {"change", required_argument, NULL, CHANGE},
    {"auth-key", required_argument, NULL, AUTH_KEY},
    {"hmac", required_argument, NULL, HMAC},
    {"cmt", required_argument, NULL, CMT},
    {"dac", no_argument, NULL, DAC},
    {"nr-sack", no_argument, NULL, NR_SACK},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

static void fail(const char *what, const char *value)
{
    fprintf(stderr, "%s: %s (--help)\n", what, value);
    exit(2);
}

static uint64_t number(const char *text, uint64_t limit)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || value > limit)
        fail("not a number in range", text);
    return value;
}

int address_length(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

void address_text(const struct sockaddr *address, char *text, size_t size)
{
    const void *bytes = address->sa_family == AF_INET6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
                                                       : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
    if (inet_ntop(address->sa_family, bytes, text, (socklen_t)size) == NULL)
        snprintf(text, size, "?");
}

static void addresses_parse(struct addresses *into, const char *list, uint16_t port)
{
    char *copy = strdup(list), *rest = copy, *one;
    uint8_t *at = into->packed;

    into->family = AF_INET;
    while ((one = strsep(&rest, ",")) != NULL) {
        struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
        struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        if (into->count++ == MAX_ADDRESSES)
            fail("too many addresses", list);
        if (inet_pton(AF_INET, one, &v4.sin_addr) == 1) {
            memcpy(at, &v4, sizeof v4);
            at += sizeof v4;
        } else if (inet_pton(AF_INET6, one, &v6.sin6_addr) == 1) {
            memcpy(at, &v6, sizeof v6);
            at += sizeof v6;
            into->family = AF_INET6;
        } else {
            fail("not an address", one);
        }
    }
    free(copy);
}

static enum closing closing_parse(const char *text)
{
    static const char *const names[] = {"", "shutdown", "abort", "vanish", "wait"};
    for (int i = CLOSE_SHUTDOWN; i <= CLOSE_WAIT; i++)
        if (strcmp(text, names[i]) == 0)
            return (enum closing)i;
    fail("not a way to close", text);
    return CLOSE_DEFAULT;
}

/* The numbers of SCTP_CMT_OFF to SCTP_CMT_MPTCP. */
static int cmt_parse(const char *text)
{
    static const char *const names[] = {"off", "on", "rpv1", "rpv2", "mptcp"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    fail("not a way to use several paths", text);
    return 0;
}

static void take_tuning(struct options *o, int id, const char *text)
{
    int value = (int)number(text, INT32_MAX);
    switch (id) {
    case RTO_MIN: o->rto_min = value; break;
    case RTO_INITIAL: o->rto_initial = value; break;
    case RTO_MAX: o->rto_max = value; break;
    case PMR: o->path_retransmits = value; break;
    case AMR: o->association_retransmits = value; break;
    case INIT_RETRANSMITS: o->init_retransmits = value; break;
    case HEARTBEAT: o->heartbeat_ms = value; break;
    case SACK_DELAY: o->sack_delay_ms = value; break;
    case SACK_FREQ: o->sack_frequency = value; break;
    case PATH_MTU: o->path_mtu = value; break;
    case SNDBUF: o->send_buffer = value; break;
    case RCVBUF: o->receive_buffer = value; break;
    default: fail("option", "unknown");
    }
}

static void take_mobility(struct options *o, int id, const char *text)
{
    const char *colon = text != NULL ? strchr(text, ':') : NULL;

    switch (id) {
    case ASCONF: o->asconf = true; break;
    case AUTO_ASCONF: o->asconf = o->auto_asconf = true; break;
    case CHANGE:
        if (o->changes == MAX_CHANGES)
            fail("too many changes", text);
        o->change[o->changes++] = text;
        break;
    case AUTH_KEY:
        if (colon == NULL)
            fail("not ID:TEXT", text);
        o->key_id = (uint16_t)atoi(text);
        o->key = colon + 1;
        break;
    case HMAC:
        if (strcmp(text, "sha1") != 0 && strcmp(text, "sha256") != 0)
            fail("not sha1 or sha256", text);
        o->hmac = strcmp(text, "sha1") == 0 ? 1 : 3;
        break;
    default: take_tuning(o, id, text);
    }
}

static void take(struct options *o, int id, const char *text)
{
    switch (id) {
    case LISTEN: o->role = ROLE_LISTEN; break;
    case CONNECT: o->role = ROLE_CONNECT; o->connect_text = text; break;
    case BIND: o->bind_text = text; break;
    case PORT: o->port = (uint16_t)number(text, 65535); break;
    case REMOTE_PORT: o->remote_port = (uint16_t)number(text, 65535); break;
    case UDP: o->udp_port = (uint16_t)number(text, 65535); break;
    case UDP_REMOTE: o->udp_remote = (uint16_t)number(text, 65535); break;
    case AT: o->connect_at = atof(text); break;
    case ACCEPT: o->associations = (uint32_t)number(text, 1000000); break;
    case SEND: o->send_messages = number(text, INT64_MAX); break;
    case SIZE: o->send_size = (uint32_t)number(text, 1 << 30); break;
    case STREAMS: o->send_streams = (uint32_t)number(text, MAX_STREAMS - 1); break;
    case UNORDERED: o->unordered = true; break;
    case ECHO: o->echo = true; break;
    case EXPECT: o->expect_messages = number(text, INT64_MAX); break;
    case PROGRESS: o->progress_bytes = number(text, INT64_MAX); break;
    case HOLD: o->hold_ms = (uint32_t)number(text, 1u << 30); break;
    case CLOSE: o->closing = closing_parse(text); break;
    case ABORT_TEXT: o->abort_text = text; break;
    case COMMANDS: o->read_commands = true; break;
    case TIMEOUT: o->timeout_s = (uint32_t)number(text, 1000000); break;
    case STREAMS_OUT: o->streams_out = (uint32_t)number(text, 65535); break;
    case STREAMS_IN: o->streams_in = (uint32_t)number(text, 65535); break;
    case MAX_MESSAGE: o->message_limit = (uint32_t)number(text, 1 << 30); break;
    case PLAIN: o->plain = true; break;
    case CMT: o->cmt = cmt_parse(text); break;
    case DAC: o->dac = true; break;
    case NR_SACK: o->nr_sack = true; break;
    default: take_mobility(o, id, text);
    }
}

void options_parse(struct options *o, int argc, char **argv, const char *stack)
{
    int id;

    *o = (struct options){
        .remote_port = 5001, .send_size = 1024, .send_streams = 1, .associations = 1, .abort_text = "bye",
        .timeout_s = 60, .message_limit = 1 << 20, .rto_min = -1, .rto_initial = -1, .rto_max = -1,
        .path_retransmits = -1, .association_retransmits = -1, .init_retransmits = -1, .heartbeat_ms = -1,
        .sack_delay_ms = -1, .sack_frequency = -1, .path_mtu = -1, .send_buffer = 4 << 20,
        .receive_buffer = 4 << 20, .streams_out = 1024, .streams_in = 1024,
    };
    while ((id = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
        if (id == HELP || id == '?') {
            fprintf(id == HELP ? stdout : stderr, usage_text, argv[0], stack);
            exit(id == HELP ? 0 : 2);
        }
        take(o, id, optarg);
    }
    if (o->role == ROLE_NONE || optind != argc)
        fail("wants --listen or --connect", "nothing else");
    if (o->send_size == 0 || o->send_streams == 0)
        fail("size and streams", "at least 1");
    if (o->changes > 0 && o->progress_bytes == 0)
        fail("--change", "needs --progress");
    if (o->role == ROLE_LISTEN && o->port == 0)
        o->port = 5001;
    if (o->udp_remote == 0)
        o->udp_remote = o->udp_port;
    if (o->closing == CLOSE_DEFAULT)
        o->closing = o->role == ROLE_LISTEN ? CLOSE_WAIT : CLOSE_SHUTDOWN;
    if (o->bind_text != NULL)
        addresses_parse(&o->local, o->bind_text, o->port);
    if (o->connect_text != NULL)
        addresses_parse(&o->remote, o->connect_text, o->remote_port);
}
