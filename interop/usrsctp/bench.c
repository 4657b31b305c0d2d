/* usrsctp's speed over loopback UDP, one process per end: see usage(). The server runs until the
 * client is done and both print one JSON line about themselves. */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <usrsctp.h>

#include "../common/bench.h"

enum { SERVER_UDP = 19899, CLIENT_UDP = 19900, SCTP_PORT = 5002, BUFFER = 4 << 20, HEADERS = 20 + 8 + 12 };

static struct {
    bool server, keep_after_setup, nagle;
    uint32_t size, seconds, setups, inflight, mtu, addresses;
    uint64_t bytes;
    uint16_t server_udp, client_udp;
} options = {.size = 65536, .bytes = 1000000000, .inflight = 16, .mtu = 1500, .addresses = 1, .server_udp = SERVER_UDP, .client_udp = CLIENT_UDP};

static struct bench bench = {.stack = "usrsctp"};
static sem_t slots, established;
static volatile uint64_t associations;
static volatile bool finished;

static void usage(int status)
{
    fprintf(status ? stderr : stdout,
            "usage: usrsctp-bench server|client [options]   (127.0.0.1, start the server first)\n"
            "  --size BYTES      message size (default 65536)\n"
            "  --bytes N         stop after so many bytes (default 10^9), or\n"
            "  --seconds N       stop after so long\n"
            "  --setups N        instead: set up N associations and keep them\n"
            "  --inflight K      ... with K at a time under way (default 16)\n"
            "  --idle N          instead: N associations; memory of each, idle, at this end\n"
            "                    (give the server the same --setups or --idle N)\n"
            "  --addresses N     1 (default), or 2: 127.0.0.1 and 127.0.0.2 at this end, which must be addresses of lo\n"
            "  --nagle           do not set SCTP_NODELAY: small messages wait to share a packet\n"
            "  --mtu BYTES       path MTU, IP header included (default 1500, as on Ethernet)\n"
            "  --server-udp PORT --client-udp PORT\n");
    exit(status);
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"size", 1, NULL, 's'},    {"bytes", 1, NULL, 'b'},      {"seconds", 1, NULL, 't'},    {"setups", 1, NULL, 'n'},
        {"inflight", 1, NULL, 'k'}, {"idle", 1, NULL, 'i'},      {"mtu", 1, NULL, 'm'},        {"server-udp", 1, NULL, 'S'},
        {"client-udp", 1, NULL, 'C'}, {"help", 0, NULL, 'h'},    {"nagle", 0, NULL, 'N'},
        {"addresses", 1, NULL, 'a'},
        {NULL, 0, NULL, 0},
    };
    int id;

    while ((id = getopt_long(argc, argv, "", names, NULL)) != -1) {
        unsigned long long value = optarg ? strtoull(optarg, NULL, 10) : 0;
        switch (id) {
        case 's': options.size = (uint32_t)value; break;
        case 'b': options.bytes = value; break;
        case 't': options.seconds = (uint32_t)value; break;
        case 'i': options.keep_after_setup = true; /* fall through */
        case 'n': options.setups = (uint32_t)value; break;
        case 'N': options.nagle = true; break;
        case 'k': options.inflight = (uint32_t)value; break;
        case 'a': options.addresses = (uint32_t)value; break;
        case 'm': options.mtu = (uint32_t)value; break;
        case 'S': options.server_udp = (uint16_t)value; break;
        case 'C': options.client_udp = (uint16_t)value; break;
        default: usage(id == 'h' ? 0 : 2);
        }
    }
    if (optind + 1 != argc || options.size == 0 || options.inflight == 0 || options.mtu < 576 || options.addresses < 1 || options.addresses > 2)
        usage(2);
    options.server = strcmp(argv[optind], "server") == 0;
    if (!options.server && strcmp(argv[optind], "client") != 0)
        usage(2);
    bench.role = argv[optind];
    bench.size = options.size;
}

static void must(int result, const char *what)
{
    if (result < 0 && errno != EINPROGRESS) {
        perror(what);
        _exit(1);
    }
}

static void association_changed(const struct sctp_assoc_change *change)
{
    if (change->sac_state == SCTP_COMM_UP) {
        associations++;
        if (options.server && associations == 1)
            bench_start(&bench);
        sem_post(&established);
        sem_post(&slots);
    } else if (change->sac_state != SCTP_RESTART && options.setups == 0) {
        finished = true;
        sem_post(&established);
    } else if (change->sac_state == SCTP_CANT_STR_ASSOC) {
        fprintf(stderr, "an association could not be set up\n");
        _exit(1);
    }
}

/* The callback way of receiving: no thread is woken per message. */
static int on_receive(struct socket *socket, union sctp_sockstore from, void *data, size_t length,
                      struct sctp_rcvinfo info, int flags, void *context)
{
    (void)socket, (void)from, (void)info, (void)context;
    if (data == NULL)
        return 1;
    if (flags & MSG_NOTIFICATION) {
        const union sctp_notification *notification = data;
        if (notification->sn_header.sn_type == SCTP_ASSOC_CHANGE)
            association_changed(&notification->sn_assoc_change);
    } else {
        bench.bytes += length;
        if (flags & MSG_EOR)
            bench.messages++;
    }
    free(data);
    return 1;
}

/* usrsctp counts a path MTU without the IP, UDP and SCTP headers.
 * A socket with a receive callback cannot block in send, so the sending client has none. */
static struct socket *open_socket(int type)
{
    bool sender = !options.server && options.setups == 0;
    struct socket *socket = usrsctp_socket(AF_INET, type, IPPROTO_SCTP, sender ? NULL : on_receive, NULL, 0, NULL);
    struct sctp_event event = {.se_type = SCTP_ASSOC_CHANGE, .se_on = 1};
    struct sctp_paddrparams path = {.spp_flags = SPP_PMTUD_DISABLE, .spp_pathmtu = options.mtu - HEADERS};
    struct sctp_udpencaps udp = {.sue_port = htons(options.server ? options.client_udp : options.server_udp)};
    int no_delay = !options.nagle, buffer = BUFFER;

    if (socket == NULL)
        must(-1, "socket");
    path.spp_address.ss_family = AF_INET;
    udp.sue_address.ss_family = AF_INET;
    must(usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_EVENT, &event, sizeof event), "SCTP_EVENT");
    must(usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_NODELAY, &no_delay, sizeof no_delay), "SCTP_NODELAY");
    must(usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, &udp, sizeof udp), "encapsulation port");
    must(usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, &path, sizeof path), "path MTU");
    if (options.setups == 0) {
        must(usrsctp_setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), "SO_SNDBUF");
        must(usrsctp_setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer), "SO_RCVBUF");
    }
    return socket;
}

static struct sockaddr_in server_address(void)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(SCTP_PORT), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

/* With port 0 usrsctp chooses one with the first address. */
static void bind_addresses(struct socket *socket, uint16_t port)
{
    for (uint32_t i = 0; i < options.addresses; i++) {
        struct sockaddr_in address = {
            .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK + i)};
        must(usrsctp_bindx(socket, (struct sockaddr *)&address, 1, SCTP_BINDX_ADD_ADDR),
             i == 0 ? "bind" : "bind to 127.0.0.2 (ip address add 127.0.0.2/8 dev lo)");
    }
}

static void print_setups(long rss_before)
{
    double user, sys, seconds = bench_now() - bench.start;
    long rss;

    bench_cpu(&user, &sys);
    if (options.keep_after_setup)
        sleep(2); /* let what is left of the handshakes be freed */
    rss = bench_rss_kib();
    printf("{\"stack\":\"usrsctp\",\"role\":\"%s\",\"setups\":%u,\"inflight\":%u,\"seconds\":%.6f,\"setups_per_s\":%.0f,"
           "\"cpu_user\":%.6f,\"cpu_sys\":%.6f,\"cpu_us_per_setup\":%.1f,\"rss_before_kib\":%ld,\"rss_after_kib\":%ld,"
           "\"bytes_per_association\":%.0f}\n",
           bench.role, options.setups, options.inflight, seconds, options.setups / seconds, user - bench.user,
           sys - bench.sys, (user - bench.user + sys - bench.sys) * 1e6 / options.setups, rss_before, rss,
           (double)(rss - rss_before) * 1024 / options.setups);
    fflush(stdout);
}

static void serve(void)
{
    struct socket *socket = open_socket(SOCK_SEQPACKET);
    long rss = bench_rss_kib();

    bind_addresses(socket, SCTP_PORT);
    must(usrsctp_listen(socket, 1024), "listen");
    if (options.setups > 0) {
        for (uint32_t i = 0; i < options.setups; i++)
            sem_wait(&established);
        print_setups(rss);
        sleep(options.keep_after_setup ? 1 : 0);
        return;
    }
    while (!finished)
        sem_wait(&established);
    bench_print(&bench);
}

static void set_up(void)
{
    struct sockaddr_in address = server_address();
    long rss = bench_rss_kib();

    for (uint32_t i = 0; i < options.inflight; i++)
        sem_post(&slots);
    bench_start(&bench);
    for (uint32_t i = 0; i < options.setups; i++) {
        struct socket *socket;
        sem_wait(&slots);
        socket = open_socket(SOCK_STREAM);
        usrsctp_set_non_blocking(socket, 1);
        if (options.addresses > 1)
            bind_addresses(socket, 0);
        must(usrsctp_connect(socket, (struct sockaddr *)&address, sizeof address), "connect");
    }
    for (uint32_t i = 0; i < options.setups; i++)
        sem_wait(&established);
    print_setups(rss);
    sleep(options.keep_after_setup ? 1 : 0);
}

static void wait_for_end(struct socket *socket)
{
    uint8_t buffer[2048];
    struct sockaddr_in from;
    struct sctp_rcvinfo info;
    ssize_t got;

    do {
        socklen_t from_length = sizeof from, info_length = sizeof info;
        unsigned int type = SCTP_RECVV_NOINFO;
        int flags = 0;
        got = usrsctp_recvv(socket, buffer, sizeof buffer, (struct sockaddr *)&from, &from_length, &info, &info_length,
                            &type, &flags);
    } while (got > 0);
}

static void send_all(void)
{
    struct sockaddr_in address = server_address();
    struct sctp_sndinfo info = {0};
    uint8_t *data = calloc(1, options.size);
    struct socket *socket = open_socket(SOCK_STREAM);
    double end;

    must(usrsctp_connect(socket, (struct sockaddr *)&address, sizeof address), "connect");
    bench_start(&bench);
    end = bench.start + options.seconds;
    while (options.seconds > 0 ? (bench.messages & 63) || bench_now() < end : bench.bytes < options.bytes) {
        if (usrsctp_sendv(socket, data, options.size, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0)
            must(-1, "send");
        bench.bytes += options.size;
        bench.messages++;
    }
    must(usrsctp_shutdown(socket, SHUT_WR), "shutdown");
    wait_for_end(socket);
    bench_print(&bench);
    free(data);
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    sem_init(&slots, 0, 0);
    sem_init(&established, 0, 0);
    usrsctp_init(options.server ? options.server_udp : options.client_udp, NULL, NULL);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    if (options.server)
        serve();
    else if (options.setups > 0)
        set_up();
    else
        send_all();
    /* Not usrsctp_finish: closing many sockets can corrupt its heap. */
    _exit(0);
}
