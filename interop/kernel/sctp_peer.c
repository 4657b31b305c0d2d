/* The shared peer on the Linux kernel's SCTP. UDP encapsulation is a setting of the network
 * namespace, so --udp writes net.sctp.udp_port and net.sctp.encap_port. */
#include <errno.h>
#include <arpa/inet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../common/stack.h"

const char stack_name[] = "linux";

static uint16_t sctp_port;

/* Whoever waits in a call on a socket keeps it open, so the receiver waits in poll, on `stop` too. */
static int stop[2];
static pthread_mutex_t receiving = PTHREAD_MUTEX_INITIALIZER;

static void write_setting(const char *path, unsigned value)
{
    FILE *file = fopen(path, "w");
    if (file == NULL || fprintf(file, "%u\n", value) < 0 || fclose(file) != 0)
        report("option_refused", "\"option\":\"%s\",\"error\":\"%s\"", path, strerror(errno));
}

static unsigned read_setting(const char *path)
{
    unsigned value = 0;
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%u", &value) != 1)
            value = 0;
        fclose(file);
    }
    return value;
}

void stack_start(const struct options *options)
{
    const struct {
        const char *path;
        unsigned value;
    } settings[] = {
        /* Both ports, and before any socket: with encap_port 0 the INIT ACK leaves without UDP. */
        {"/proc/sys/net/sctp/udp_port", options->udp_port},
        {"/proc/sys/net/sctp/encap_port", options->udp_remote},
        {"/proc/sys/net/sctp/auth_enable", options->asconf},
        {"/proc/sys/net/sctp/addip_enable", options->asconf},
    };

    sctp_port = options->port;
    if (pipe(stop) != 0)
        stop[0] = -1; /* ABORT and vanishing will then fail, and say so */
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (read_setting(settings[i].path) != settings[i].value)
            write_setting(settings[i].path, settings[i].value);
}

static int number_of(void *handle)
{
    return (int)(intptr_t)handle - 1;
}

static void *handle_of(int number)
{
    return (void *)(intptr_t)(number + 1); /* -1 becomes NULL */
}

static void *with_receive_info(int number)
{
    int on = 1;

    if (number >= 0)
        setsockopt(number, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on);
    return handle_of(number);
}

void *stack_open(int family)
{
    int on = 1, number = socket(family, SOCK_STREAM, IPPROTO_SCTP);

    if (number >= 0)
        setsockopt(number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return with_receive_info(number);
}

int stack_set(void *socket, int level, int name, const void *value, socklen_t length)
{
    return setsockopt(number_of(socket), level, name, value, length);
}

int stack_get(void *socket, int level, int name, void *value, socklen_t *length)
{
    return getsockopt(number_of(socket), level, name, value, length);
}

int stack_bind(void *socket, struct addresses *local)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(sctp_port)};

    if (local->count == 0)
        return bind(number_of(socket), (struct sockaddr *)&any, sizeof any);
    return sctp_bindx(number_of(socket), (struct sockaddr *)local->packed, local->count, SCTP_BINDX_ADD_ADDR);
}

int stack_change_address(void *socket, struct sockaddr *address, bool add)
{
    return sctp_bindx(number_of(socket), address, 1, add ? SCTP_BINDX_ADD_ADDR : SCTP_BINDX_REM_ADDR);
}

int stack_follow_host(void *socket)
{
    int on = 1;

    return setsockopt(number_of(socket), IPPROTO_SCTP, SCTP_AUTO_ASCONF, &on, sizeof on);
}

int stack_listen(void *socket)
{
    return listen(number_of(socket), 16);
}

void *stack_accept(void *socket)
{
    return with_receive_info(accept(number_of(socket), NULL, NULL));
}

int stack_connect(void *socket, struct addresses *remote)
{
    return sctp_connectx(number_of(socket), (struct sockaddr *)remote->packed, remote->count, NULL);
}

ssize_t stack_send(void *socket, const void *data, size_t length, uint16_t stream, uint32_t ppid, bool unordered)
{
    struct sctp_sndinfo info = {.snd_sid = stream, .snd_ppid = htonl(ppid)};
    struct iovec part = {.iov_base = (void *)data, .iov_len = length};

    if (unordered)
        info.snd_flags |= SCTP_UNORDERED;
    return sctp_sendv(number_of(socket), &part, 1, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, MSG_NOSIGNAL);
}

ssize_t stack_receive(void *socket, void *data, size_t length, struct sctp_rcvinfo *info, int *flags)
{
    struct iovec part = {.iov_base = data, .iov_len = length};
    struct sockaddr_storage from;
    socklen_t from_length = sizeof from, info_length = sizeof *info;
    unsigned int info_type;
    struct pollfd wait[2] = {{.fd = number_of(socket), .events = POLLIN}, {.fd = stop[0], .events = POLLIN}};
    ssize_t got = -1;

    pthread_mutex_lock(&receiving);
    poll(wait, 2, -1);
    if (wait[1].revents == 0)
        got = sctp_recvv(number_of(socket), &part, 1, (struct sockaddr *)&from, &from_length, info, &info_length,
                         &info_type, flags);
    else
        got = 0;
    pthread_mutex_unlock(&receiving);
    return got;
}

bool stack_is_unordered(const struct sctp_rcvinfo *info)
{
    return (info->rcv_flags & SCTP_UNORDERED) != 0;
}

int stack_shutdown(void *socket)
{
    return shutdown(number_of(socket), SHUT_WR);
}

/* The kernel throws SHUTDOWN_COMP away if this end calls shutdown() between the peer's SHUTDOWN and the end of
 * the association (sctp_ulpq_tail_event: nobody is thought to listen). An association that failed leaves an error. */
bool stack_has_shut_down(void *socket)
{
    struct sctp_status status;
    socklen_t length = sizeof status, error_length = sizeof(int);
    int error = 0;
    char peeked;

    if (getsockopt(number_of(socket), IPPROTO_SCTP, SCTP_STATUS, &status, &length) == 0 || errno != EINVAL)
        return false;
    usleep(100000); /* where nothing was thrown away, it is there now, and reading it says more */
    if (recv(number_of(socket), &peeked, 1, MSG_PEEK | MSG_DONTWAIT) > 0)
        return false;
    return getsockopt(number_of(socket), SOL_SOCKET, SO_ERROR, &error, &error_length) == 0 && error == 0;
}

/* The API gives a one-to-one socket no other ABORT than that of SO_LINGER, which has no text. */
int stack_abort(void *socket, const char *text)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};

    (void)text;
    if (write(stop[1], "", 1) != 1)
        return -1;
    pthread_mutex_lock(&receiving);
    int result = setsockopt(number_of(socket), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    result |= close(number_of(socket));
    pthread_mutex_unlock(&receiving);
    return result;
}

static void on_every_interface(const char *verb)
{
    char command[256];
    snprintf(command, sizeof command,
             "for i in /sys/class/net/eth*; do tc qdisc %s dev ${i##*/} root netem%s; done", verb,
             strcmp(verb, "add") == 0 ? " loss 100%" : "");
    if (system(command) != 0)
        report("error", "\"call\":\"vanish\",\"error\":\"%s\"", command);
}

/* The kernel always says goodbye when a socket closes; so its words are dropped on the way out
 * while the association is destroyed by an ABORT nobody hears. */
void stack_vanish(const struct options *options, void *socket, int status)
{
    struct timespec moment = {.tv_nsec = 50000000};

    (void)options;
    on_every_interface("add");
    stack_abort(socket, "");
    nanosleep(&moment, NULL);
    on_every_interface("del");
    exit(status);
}

void stack_exit(int status)
{
    exit(status);
}

int stack_addresses(void *socket, bool remote, struct sockaddr **addresses)
{
    return remote ? sctp_getpaddrs(number_of(socket), 0, addresses) : sctp_getladdrs(number_of(socket), 0, addresses);
}

void stack_free_addresses(bool remote, struct sockaddr *addresses)
{
    remote ? sctp_freepaddrs(addresses) : sctp_freeladdrs(addresses);
}
