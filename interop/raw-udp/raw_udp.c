/* What the machine can do at most: one sender, one receiver, one process each, over loopback.
 *
 *   udp   datagrams of 1,472 bytes (1,500 with IP) in GSO batches, received with GRO; each side copies
 *         every byte once and computes the CRC32c of every datagram, as SCTP over UDP must. Nothing is
 *         acknowledged except that the sender waits when it is a window ahead of the receiver.
 *   tcp   the kernel's TCP, for comparison: plain write and read.
 *
 * Both ends print a line in the shape of usrsctp-bench; the fork makes two processes of it. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <nmmintrin.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/bench.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#define UDP_GRO 104
#endif

enum { DATAGRAM = 1472, BATCH = 44, WINDOW_BATCHES = 16, TCP_BUFFER = 65536, SOCKET_BUFFER = 8 << 20 };

static volatile uint32_t crc_sink;

/* One stream of crc32 instructions; three interleaved ones would be faster still. */
static uint32_t crc32c(const uint8_t *data, size_t length)
{
    uint64_t crc = 0xffffffff;

    for (; length >= 8; data += 8, length -= 8) {
        uint64_t word;
        memcpy(&word, data, 8);
        crc = _mm_crc32_u64(crc, word);
    }
    for (; length > 0; data++, length--)
        crc = _mm_crc32_u8((uint32_t)crc, *data);
    return ~(uint32_t)crc;
}

static void must(bool good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

static int bound_socket(int type, struct sockaddr_in *address)
{
    socklen_t length = sizeof *address;
    int buffer = SOCKET_BUFFER, number = socket(AF_INET, type, 0);

    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    must(number >= 0 && bind(number, (struct sockaddr *)address, sizeof *address) == 0, "bind");
    must(getsockname(number, (struct sockaddr *)address, &length) == 0, "getsockname");
    /* The first needs CAP_NET_ADMIN and is not bounded by net.core.rmem_max. */
    if (setsockopt(number, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer) != 0)
        setsockopt(number, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    return number;
}

static void receive_udp(int from, int credit)
{
    static uint8_t wire[65536], user[65536];
    struct bench bench = {.stack = "raw-udp", .role = "server", .size = DATAGRAM};
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {.iov_base = wire, .iov_len = sizeof wire};
    uint32_t uncredited = 0;

    for (;;) {
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        ssize_t got = recvmsg(from, &message, 0);
        must(got > 0, "recvmsg");
        if (bench.start == 0)
            bench_start(&bench);
        if (got == 1)
            break;
        for (ssize_t at = 0; at < got; at += DATAGRAM) {
            size_t one = got - at < DATAGRAM ? (size_t)(got - at) : DATAGRAM;
            crc_sink ^= crc32c(wire + at, one);
            memcpy(user + at, wire + at, one);
            bench.messages++;
            bench.bytes += one;
            uncredited++;
        }
        for (; uncredited >= BATCH; uncredited -= BATCH)
            must(write(credit, "", 1) == 1, "credit");
    }
    bench_print(&bench);
}

static void send_udp(int to, int credit, uint64_t bytes)
{
    static uint8_t user[BATCH * DATAGRAM], wire[BATCH * DATAGRAM];
    struct bench bench = {.stack = "raw-udp", .role = "client", .size = DATAGRAM};
    int segment = DATAGRAM, ahead = 0;
    char credits[WINDOW_BATCHES];

    must(setsockopt(to, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) == 0, "UDP_SEGMENT");
    bench_start(&bench);
    while (bench.bytes < bytes) {
        for (int i = 0; i < BATCH; i++) {
            memcpy(wire + i * DATAGRAM, user + i * DATAGRAM, DATAGRAM);
            crc_sink ^= crc32c(wire + i * DATAGRAM, DATAGRAM);
        }
        must(send(to, wire, sizeof wire, 0) == (ssize_t)sizeof wire, "send");
        bench.bytes += sizeof wire;
        bench.messages += BATCH;
        if (++ahead >= WINDOW_BATCHES) {
            ssize_t got = read(credit, credits, sizeof credits);
            must(got > 0, "credit");
            ahead -= (int)got;
        }
    }
    while (ahead > 0) {
        ssize_t got = read(credit, credits, sizeof credits);
        must(got > 0, "credit");
        ahead -= (int)got;
    }
    bench_print(&bench);
    must(send(to, "", 1, 0) == 1, "send");
}

static void receive_tcp(int listener)
{
    static uint8_t buffer[TCP_BUFFER];
    struct bench bench = {.stack = "kernel-tcp", .role = "server", .size = TCP_BUFFER};
    int from = accept(listener, NULL, NULL);
    ssize_t got;

    must(from >= 0, "accept");
    bench_start(&bench);
    while ((got = read(from, buffer, sizeof buffer)) > 0)
        bench.bytes += (uint64_t)got;
    bench.messages = bench.bytes / TCP_BUFFER;
    bench_print(&bench);
}

static void send_tcp(const struct sockaddr_in *address, uint64_t bytes)
{
    static uint8_t buffer[TCP_BUFFER];
    struct bench bench = {.stack = "kernel-tcp", .role = "client", .size = TCP_BUFFER};
    int to = socket(AF_INET, SOCK_STREAM, 0);

    must(connect(to, (const struct sockaddr *)address, sizeof *address) == 0, "connect");
    bench_start(&bench);
    for (; bench.bytes < bytes; bench.bytes += TCP_BUFFER, bench.messages++)
        for (size_t done = 0; done < TCP_BUFFER;) {
            ssize_t put = write(to, buffer + done, TCP_BUFFER - done);
            must(put > 0, "write");
            done += (size_t)put;
        }
    close(to);
    bench_print(&bench);
}

static int run_udp(uint64_t bytes)
{
    struct sockaddr_in receiver, sender;
    int on = 1, credit[2], status, from = bound_socket(SOCK_DGRAM, &receiver), to = bound_socket(SOCK_DGRAM, &sender);

    must(setsockopt(from, IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0, "UDP_GRO");
    must(connect(to, (struct sockaddr *)&receiver, sizeof receiver) == 0, "connect");
    must(pipe(credit) == 0, "pipe");
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        receive_udp(from, credit[1]);
        exit(0);
    }
    close(credit[1]);
    send_udp(to, credit[0], bytes);
    return waitpid(child, &status, 0) == child ? status != 0 : 1;
}

static int run_tcp(uint64_t bytes)
{
    struct sockaddr_in address;
    int status, listener = bound_socket(SOCK_STREAM, &address);

    must(listen(listener, 1) == 0, "listen");
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        receive_tcp(listener);
        exit(0);
    }
    send_tcp(&address, bytes);
    return waitpid(child, &status, 0) == child ? status != 0 : 1;
}

int main(int argc, char **argv)
{
    uint64_t bytes = argc > 2 ? strtoull(argv[2], NULL, 10) : 4000000000ull;

    if (argc > 1 && strcmp(argv[1], "udp") == 0)
        return run_udp(bytes);
    if (argc > 1 && strcmp(argv[1], "tcp") == 0)
        return run_tcp(bytes);
    fprintf(stderr, "usage: raw-udp udp|tcp [BYTES]   (default 4000000000)\n");
    return 2;
}
