/* The shared peer on usrsctp, over UDP encapsulation or raw IP.
 *
 * usrsctp has one wildcard UDP socket and cannot choose a packet's source address: with two
 * addresses, each needs its own subnet so that the route decides it. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/stack.h"

const char stack_name[] = "usrsctp";

static uint16_t sctp_port;

/* Linux (6.x) answers a packet of protocol 132 with "protocol unreachable" when no raw socket has room for it, too, and
 * the peer must take that for an ABORT (RFC 9260 section 10, ICMP8). A socket that drops everything always has room. */
static void never_unreachable(void)
{
    struct sock_filter nothing[] = {BPF_STMT(BPF_RET | BPF_K, 0)};
    struct sock_fprog program = {.len = 1, .filter = nothing};
    int guard = socket(AF_INET, SOCK_RAW, IPPROTO_SCTP);

    if (guard < 0 || setsockopt(guard, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
        report("error", "\"call\":\"guard\",\"error\":\"%s\"", strerror(errno));
}

/* Several paths at once. Without nr_sack none of its extensions says anything to the peer. */
static void several_paths(const struct options *options)
{
    usrsctp_sysctl_set_sctp_cmt_on_off((uint32_t)options->cmt);
    usrsctp_sysctl_set_sctp_cmt_use_dac(options->dac);
    usrsctp_sysctl_set_sctp_nrsack_enable(options->nr_sack);
    if (usrsctp_sysctl_get_sctp_cmt_on_off() != (uint32_t)options->cmt)
        report("option_refused", "\"option\":\"sctp_cmt_on_off\",\"error\":\"\"");
}

void stack_start(const struct options *options)
{
    sctp_port = options->port;
    if (options->udp_port == 0)
        never_unreachable();
    usrsctp_init(options->udp_port, NULL, NULL);
    usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
    usrsctp_sysctl_set_sctp_blackhole(0);
    /* An ABORT of the stack's own tells why: protocol violation (RFC 9260 section 3.3.10.13) with a text. */
    usrsctp_sysctl_set_sctp_diag_info_code(13);
    /* Changes of address are ours to order: usrsctp is not to follow the host's interfaces. */
    usrsctp_sysctl_set_sctp_auto_asconf(0);
    if (options->asconf) {
        usrsctp_sysctl_set_sctp_auth_enable(1);
        usrsctp_sysctl_set_sctp_asconf_enable(1);
    }
    several_paths(options);
    if (options->plain) {
        usrsctp_sysctl_set_sctp_ecn_enable(0);
        usrsctp_sysctl_set_sctp_asconf_enable(0);
        usrsctp_sysctl_set_sctp_auth_enable(0);
        usrsctp_sysctl_set_sctp_reconfig_enable(0);
        usrsctp_sysctl_set_sctp_pr_enable(0);
        usrsctp_sysctl_set_sctp_nrsack_enable(0);
        usrsctp_sysctl_set_sctp_pktdrop_enable(0);
    }
}

static void *with_receive_info(struct socket *socket)
{
    int on = 1;

    if (socket != NULL)
        usrsctp_setsockopt(socket, IPPROTO_SCTP, SCTP_RECVRCVINFO, &on, sizeof on);
    return socket;
}

void *stack_open(int family)
{
    return with_receive_info(usrsctp_socket(family, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL));
}

int stack_set(void *socket, int level, int name, const void *value, socklen_t length)
{
    return usrsctp_setsockopt(socket, level, name, value, length);
}

int stack_get(void *socket, int level, int name, void *value, socklen_t *length)
{
    return usrsctp_getsockopt(socket, level, name, value, length);
}

int stack_bind(void *socket, struct addresses *local)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(sctp_port)};

    if (local->count == 0)
        return usrsctp_bind(socket, (struct sockaddr *)&any, sizeof any);
    return usrsctp_bindx(socket, (struct sockaddr *)local->packed, local->count, SCTP_BINDX_ADD_ADDR);
}

int stack_change_address(void *socket, struct sockaddr *address, bool add)
{
    return usrsctp_bindx(socket, address, 1, add ? SCTP_BINDX_ADD_ADDR : SCTP_BINDX_REM_ADDR);
}

int stack_follow_host(void *socket)
{
    (void)socket;
    errno = EOPNOTSUPP; /* it looks at interfaces once, where it has no routing socket */
    return -1;
}

int stack_listen(void *socket)
{
    return usrsctp_listen(socket, 16);
}

void *stack_accept(void *socket)
{
    return with_receive_info(usrsctp_accept(socket, NULL, NULL));
}

int stack_connect(void *socket, struct addresses *remote)
{
    sctp_assoc_t id;

    /* Non-blocking for the call only, so that "up" arrives as for everyone else. */
    usrsctp_set_non_blocking(socket, 1);
    int result = usrsctp_connectx(socket, (struct sockaddr *)remote->packed, remote->count, &id);
    int error = errno;
    usrsctp_set_non_blocking(socket, 0);
    return result < 0 && error != EINPROGRESS ? -1 : 0;
}

ssize_t stack_send(void *socket, const void *data, size_t length, uint16_t stream, uint32_t ppid, bool unordered)
{
    struct sctp_sndinfo info = {.snd_sid = stream, .snd_ppid = htonl(ppid)};

    if (unordered)
        info.snd_flags |= SCTP_UNORDERED;
    return usrsctp_sendv(socket, data, length, NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0);
}

ssize_t stack_receive(void *socket, void *data, size_t length, struct sctp_rcvinfo *info, int *flags)
{
    struct sockaddr_storage from;
    socklen_t from_length = sizeof from, info_length = sizeof *info;
    unsigned int info_type = SCTP_RECVV_NOINFO;

    return usrsctp_recvv(socket, data, length, (struct sockaddr *)&from, &from_length, info, &info_length, &info_type,
                         flags);
}

bool stack_is_unordered(const struct sctp_rcvinfo *info)
{
    return (info->rcv_flags & SCTP_UNORDERED) != 0;
}

int stack_shutdown(void *socket)
{
    return usrsctp_shutdown(socket, SHUT_WR);
}

bool stack_has_shut_down(void *socket)
{
    (void)socket;
    return false; /* always notifies */
}

int stack_abort(void *socket, const char *text)
{
    struct sctp_sndinfo info = {.snd_flags = SCTP_ABORT};

    return usrsctp_sendv(socket, text, strlen(text), NULL, 0, &info, sizeof info, SCTP_SENDV_SNDINFO, 0) < 0 ? -1 : 0;
}

void stack_vanish(const struct options *options, void *socket, int status)
{
    (void)options;
    (void)socket;
    _exit(status);
}

/* Without usrsctp_finish: it may wait for ever, and closing sockets can corrupt its heap. */
void stack_exit(int status)
{
    _exit(status);
}

int stack_addresses(void *socket, bool remote, struct sockaddr **addresses)
{
    return remote ? usrsctp_getpaddrs(socket, 0, addresses) : usrsctp_getladdrs(socket, 0, addresses);
}

void stack_free_addresses(bool remote, struct sockaddr *addresses)
{
    remote ? usrsctp_freepaddrs(addresses) : usrsctp_freeladdrs(addresses);
}
