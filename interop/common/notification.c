/* What a stack tells about an association, turned into reports and into the session's state. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "stack.h"

/* The cause code and text of an ABORT: the stacks hand over the chunk (usrsctp) or its causes (Linux). */
static uint16_t abort_cause(const struct sctp_assoc_change *change, size_t length, const char **text, size_t *text_length)
{
    size_t header = offsetof(struct sctp_assoc_change, sac_info);
    const uint8_t *info = (const uint8_t *)change + header;
    size_t left = length > header ? length - header : 0;

    if (left >= 4 && info[0] == 6) {
        info += 4;
        left -= 4;
    }
    *text_length = 0;
    if (left < 4) {
        /* Linux leaves the code in network order here. */
        uint16_t error = change->sac_error;
        return error > 255 && (error & 255) == 0 ? error >> 8 : error;
    }
    size_t cause_length = (size_t)(info[2] << 8 | info[3]);
    if (cause_length > 4 && cause_length <= left) {
        *text = (const char *)info + 4;
        *text_length = cause_length - 4;
    }
    return (uint16_t)(info[0] << 8 | info[1]);
}

static void list_addresses(struct session *session, bool remote, char *out, size_t size)
{
    struct sockaddr *addresses = NULL;
    int count = stack_addresses(session->socket, remote, &addresses);
    const uint8_t *at = (const uint8_t *)addresses;
    size_t used = 0;

    out[0] = '\0';
    for (int i = 0; i < count && used + 64 < size; i++) {
        char text[64];
        address_text((const struct sockaddr *)at, text, sizeof text);
        used += (size_t)snprintf(out + used, size - used, "%s\"%s\"", i ? "," : "", text);
        at += address_length((const struct sockaddr *)at);
    }
    if (count > 0)
        stack_free_addresses(remote, addresses);
}

static void association_is_up(struct session *session, const struct sctp_assoc_change *change, bool restart)
{
    char local[1200], remote[1200];

    if (restart) {
        totals_report(&session->received);
        totals_reset(&session->received);
        memset(session->next, 0, MAX_STREAMS * sizeof *session->next);
    }
    list_addresses(session, false, local, sizeof local);
    list_addresses(session, true, remote, sizeof remote);
    report(restart ? "restart" : "up", "\"streams_out\":%u,\"streams_in\":%u,\"local\":[%s],\"remote\":[%s]",
           change->sac_outbound_streams, change->sac_inbound_streams, local, remote);
    pthread_mutex_lock(&session->lock);
    session->up = true;
    if (restart)
        session->restarts++;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

static void ended(struct session *session, bool graceful)
{
    pthread_mutex_lock(&session->lock);
    session->graceful = graceful;
    session->aborted = !graceful;
    session->ended = true;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

void session_has_shut_down(struct session *session)
{
    report("closed", "\"how\":\"shutdown_complete\",\"cause\":0,\"text\":\"\"");
    ended(session, true);
}

static void association_is_over(struct session *session, const struct sctp_assoc_change *change, size_t length)
{
    static const char *const how[] = {"shutdown_complete", "lost", "cannot_start"};
    const char *text = "";
    size_t text_length;
    char escaped[512];
    int which = change->sac_state == SCTP_SHUTDOWN_COMP ? 0 : change->sac_state == SCTP_COMM_LOST ? 1 : 2;
    uint16_t cause = which == 0 ? 0 : abort_cause(change, length, &text, &text_length);

    if (which == 0)
        text_length = 0;
    json_escape(text, text_length, escaped, sizeof escaped);
    report("closed", "\"how\":\"%s\",\"cause\":%u,\"text\":\"%s\"", how[which], cause, escaped);
    ended(session, which == 0);
}

static void association_changed(struct session *session, const struct sctp_assoc_change *change, size_t length)
{
    switch (change->sac_state) {
    case SCTP_COMM_UP: association_is_up(session, change, false); break;
    case SCTP_RESTART: association_is_up(session, change, true); break;
    default: association_is_over(session, change, length);
    }
}

static const char *change_name(uint32_t state)
{
    switch (state) {
    case SCTP_ADDR_AVAILABLE: return "available";
    case SCTP_ADDR_UNREACHABLE: return "unreachable";
    case SCTP_ADDR_REMOVED: return "removed";
    case SCTP_ADDR_ADDED: return "added";
    case SCTP_ADDR_MADE_PRIM: return "made_primary";
    case SCTP_ADDR_CONFIRMED: return "confirmed";
#ifdef PEER_KERNEL
    case SCTP_ADDR_POTENTIALLY_FAILED: return "potentially_failed";
#endif
    default: return "unknown";
    }
}

void session_notification(struct session *session, const void *data, size_t length)
{
    const union sctp_notification *notification = data;
    struct sockaddr_storage address;
    char text[64];

    switch (notification->sn_header.sn_type) {
    case SCTP_ASSOC_CHANGE:
        association_changed(session, &notification->sn_assoc_change, length);
        break;
    case SCTP_PEER_ADDR_CHANGE:
        memcpy(&address, &notification->sn_paddr_change.spc_aaddr, sizeof address);
        address_text((struct sockaddr *)&address, text, sizeof text);
        report("address", "\"address\":\"%s\",\"state\":\"%s\",\"error\":%d", text,
               change_name((uint32_t)notification->sn_paddr_change.spc_state), (int)notification->sn_paddr_change.spc_error);
        break;
    case SCTP_SHUTDOWN_EVENT:
        report("shutdown", "\"by\":\"peer\"");
        break;
    case SCTP_REMOTE_ERROR:
        report("remote_error", "\"cause\":%u", ntohs(notification->sn_remote_error.sre_error));
        break;
    case SCTP_SEND_FAILED_EVENT:
        if (session->send_failures++ == 0)
            report("send_failed", "\"error\":%u,\"on_wire\":%s",
                   (unsigned)notification->sn_send_failed_event.SEND_FAILED_ERROR,
                   notification->sn_header.sn_flags == SCTP_DATA_SENT ? "true" : "false");
        break;
    default:
        report("notification", "\"type\":%u", notification->sn_header.sn_type);
    }
}

static const char *path_state_name(int32_t state)
{
    switch (state) {
    case SCTP_ACTIVE: return "active";
    case SCTP_INACTIVE: return "inactive";
    case SCTP_UNCONFIRMED: return "unconfirmed";
#ifdef PEER_KERNEL
    case SCTP_PF: return "potentially_failed";
#endif
    default: return "other";
    }
}

void session_status(struct session *session)
{
    struct sctp_status status = {0};
    socklen_t length = sizeof status;
    struct sockaddr *addresses = NULL;
    struct sockaddr_storage primary;
    char text[64], paths[2048] = "";
    size_t used = 0;
    int count;

    if (stack_get(session->socket, IPPROTO_SCTP, SCTP_STATUS, &status, &length) != 0)
        return;
    count = stack_addresses(session->socket, true, &addresses);
    for (const uint8_t *at = (const uint8_t *)addresses; count-- > 0 && used + 192 < sizeof paths;) {
        struct sctp_paddrinfo info = {0};
        int one = address_length((const struct sockaddr *)at);
        length = sizeof info;
        memcpy(&info.spinfo_address, at, (size_t)one);
        address_text((const struct sockaddr *)at, text, sizeof text);
        at += one;
        if (stack_get(session->socket, IPPROTO_SCTP, SCTP_GET_PEER_ADDR_INFO, &info, &length) != 0)
            continue;
        used += (size_t)snprintf(paths + used, sizeof paths - used,
                                 "%s{\"address\":\"%s\",\"state\":\"%s\",\"cwnd\":%u,\"srtt\":%u,\"rto\":%u,\"mtu\":%u}",
                                 used ? "," : "", text, path_state_name(info.spinfo_state), info.spinfo_cwnd,
                                 info.spinfo_srtt, info.spinfo_rto, info.spinfo_mtu);
    }
    if (addresses != NULL)
        stack_free_addresses(true, addresses);
    memcpy(&primary, &status.sstat_primary.spinfo_address, sizeof primary);
    address_text((struct sockaddr *)&primary, text, sizeof text);
    report("status", "\"state\":%d,\"rwnd\":%u,\"unacked\":%u,\"pending\":%u,\"primary\":\"%s\",\"paths\":[%s]",
           status.sstat_state, status.sstat_rwnd, status.sstat_unackdata, status.sstat_penddata, text, paths);
}
