#include <errno.h>
#include <string.h>

#include "stack.h"

enum { SHA1 = 1 };

static void set(void *socket, int level, int name, const char *what, const void *value, socklen_t length)
{
    if (stack_set(socket, level, name, value, length) != 0)
        report("option_refused", "\"option\":\"%s\",\"error\":\"%s\"", what, strerror(errno));
}

static void subscribe(void *socket)
{
    static const uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_PEER_ADDR_CHANGE, SCTP_REMOTE_ERROR,
                                      SCTP_SHUTDOWN_EVENT, SCTP_SEND_FAILED_EVENT};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct sctp_event event = {.se_type = events[i], .se_on = 1};
        set(socket, IPPROTO_SCTP, SCTP_EVENT, "SCTP_EVENT", &event, sizeof event);
    }
}

static void set_timers(void *socket, const struct options *o)
{
    struct sctp_rtoinfo rto = {0};
    struct sctp_assocparams association = {0};
    struct sctp_sack_info sack = {0};

    rto.srto_min = o->rto_min > 0 ? (uint32_t)o->rto_min : 0;
    rto.srto_initial = o->rto_initial > 0 ? (uint32_t)o->rto_initial : 0;
    rto.srto_max = o->rto_max > 0 ? (uint32_t)o->rto_max : 0;
    if (rto.srto_min || rto.srto_initial || rto.srto_max)
        set(socket, IPPROTO_SCTP, SCTP_RTOINFO, "SCTP_RTOINFO", &rto, sizeof rto);
    if (o->association_retransmits > 0) {
        association.sasoc_asocmaxrxt = (uint16_t)o->association_retransmits;
        set(socket, IPPROTO_SCTP, SCTP_ASSOCINFO, "SCTP_ASSOCINFO", &association, sizeof association);
    }
    if (o->sack_delay_ms >= 0 || o->sack_frequency >= 0) {
        /* A frequency of 1 switches the delay off in both stacks. */
        sack.sack_delay = o->sack_delay_ms > 0 ? (uint32_t)o->sack_delay_ms : 0;
        sack.sack_freq = o->sack_frequency > 0 ? (uint32_t)o->sack_frequency : o->sack_delay_ms == 0 ? 1 : 2;
        set(socket, IPPROTO_SCTP, SCTP_DELAYED_SACK, "SCTP_DELAYED_SACK", &sack, sizeof sack);
    }
}

static void set_paths(void *socket, const struct options *o)
{
    struct sctp_paddrparams path = {0};

    path.spp_address.ss_family = o->local.family == AF_INET6 || o->remote.family == AF_INET6 ? AF_INET6 : AF_INET;
    if (o->heartbeat_ms == 0) {
        path.spp_flags |= SPP_HB_DISABLE;
    } else if (o->heartbeat_ms > 0) {
        path.spp_flags |= SPP_HB_ENABLE;
        path.spp_hbinterval = (uint32_t)o->heartbeat_ms;
    }
    if (o->path_mtu > 0) {
        path.spp_flags |= SPP_PMTUD_DISABLE;
        path.spp_pathmtu = (uint32_t)o->path_mtu;
    }
    if (o->path_retransmits >= 0)
        path.spp_pathmaxrxt = (uint16_t)o->path_retransmits;
    if (path.spp_flags != 0 || o->path_retransmits >= 0)
        set(socket, IPPROTO_SCTP, SCTP_PEER_ADDR_PARAMS, "SCTP_PEER_ADDR_PARAMS", &path, sizeof path);
}

/* Which algorithm the peer uses follows the order of our list (RFC 4895 section 6.1), which must have SHA-1 in it. */
static void set_authentication(void *socket, const struct options *o)
{
    if (o->hmac != 0) {
        uint8_t space[sizeof(struct sctp_hmacalgo) + 2 * sizeof(uint16_t)] = {0};
        struct sctp_hmacalgo *algorithms = (struct sctp_hmacalgo *)space;
        uint32_t count = 0;
        if (o->hmac != SHA1)
            algorithms->shmac_idents[count++] = o->hmac;
        algorithms->shmac_idents[count++] = SHA1;
        algorithms->shmac_number_of_idents = count;
        set(socket, IPPROTO_SCTP, SCTP_HMAC_IDENT, "SCTP_HMAC_IDENT", space,
            (socklen_t)(sizeof *algorithms + count * sizeof(uint16_t)));
    }
    if (o->key != NULL) {
        uint8_t space[sizeof(struct sctp_authkey) + 256] = {0};
        struct sctp_authkey *key = (struct sctp_authkey *)space;
        struct sctp_authkeyid active = {.scact_keynumber = o->key_id};
        size_t length = strnlen(o->key, 256);
        key->sca_keynumber = o->key_id;
        key->sca_keylength = (uint16_t)length;
        memcpy(key->sca_key, o->key, length);
        set(socket, IPPROTO_SCTP, SCTP_AUTH_KEY, "SCTP_AUTH_KEY", space, (socklen_t)(sizeof *key + length));
        set(socket, IPPROTO_SCTP, SCTP_AUTH_ACTIVE_KEY, "SCTP_AUTH_ACTIVE_KEY", &active, sizeof active);
    }
}

void tuning_apply(void *socket, const struct options *o)
{
    int on = 1;
    struct sctp_initmsg init = {
        .sinit_num_ostreams = (uint16_t)o->streams_out,
        .sinit_max_instreams = (uint16_t)o->streams_in,
        .sinit_max_attempts = o->init_retransmits > 0 ? (uint16_t)o->init_retransmits : 0,
        .sinit_max_init_timeo = o->rto_initial > 0 ? (uint16_t)o->rto_initial : 0,
    };

    subscribe(socket);
    set(socket, IPPROTO_SCTP, SCTP_INITMSG, "SCTP_INITMSG", &init, sizeof init);
    set(socket, IPPROTO_SCTP, SCTP_NODELAY, "SCTP_NODELAY", &on, sizeof on);
    if (o->send_buffer > 0)
        set(socket, SOL_SOCKET, SO_SNDBUF, "SO_SNDBUF", &o->send_buffer, sizeof o->send_buffer);
    if (o->receive_buffer > 0)
        set(socket, SOL_SOCKET, SO_RCVBUF, "SO_RCVBUF", &o->receive_buffer, sizeof o->receive_buffer);
    set_timers(socket, o);
    set_paths(socket, o);
    set_authentication(socket, o);
    if (o->udp_remote != 0) {
        struct sctp_udpencaps udp = {0};
        udp.sue_address.ss_family = o->remote.family == AF_INET6 ? AF_INET6 : AF_INET;
        udp.sue_port = htons(o->udp_remote);
        set(socket, IPPROTO_SCTP, SCTP_REMOTE_UDP_ENCAPS_PORT, "SCTP_REMOTE_UDP_ENCAPS_PORT", &udp, sizeof udp);
    }
}
