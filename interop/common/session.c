/* The life of one association: a thread receives, the caller's thread sends and closes. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stack.h"

static void end_of_association(struct session *session)
{
    pthread_mutex_lock(&session->lock);
    session->ended = true;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

static void whole_message(struct session *session, const uint8_t *data, uint32_t length, const struct sctp_rcvinfo *info)
{
    const struct options *o = session->options;
    struct totals *totals = &session->received;
    uint64_t before = totals->bytes;
    bool unordered = stack_is_unordered(info);

    pthread_mutex_lock(&session->lock);
    totals_add(totals, data, length, info->rcv_sid, ntohl(info->rcv_ppid), unordered);
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
    if (o->progress_bytes > 0 && before / o->progress_bytes != totals->bytes / o->progress_bytes) {
        report("progress", "\"messages\":%llu,\"bytes\":%llu", (unsigned long long)totals->messages,
               (unsigned long long)totals->bytes);
        session_change_next(session);
    }
    if (o->echo && stack_send(session->socket, data, length, info->rcv_sid, ntohl(info->rcv_ppid), unordered) < 0)
        report("error", "\"call\":\"echo\",\"error\":\"%s\"", strerror(errno));
}

static void *receive_all(void *argument)
{
    struct session *session = argument;
    uint32_t limit = session->options->message_limit, filled = 0, patience = 500;
    uint8_t *buffer = malloc(limit);

    while (buffer != NULL) {
        struct sctp_rcvinfo info = {0};
        int flags = 0;
        ssize_t got = stack_receive(session->socket, buffer + filled, limit - filled, &info, &flags);
        if (got < 0 && errno == EINTR)
            continue;
        /* Linux says "end" at the peer's SHUTDOWN already, before it tells how that ended. */
        if (got == 0 && !session->left && patience-- > 0) {
            if (stack_has_shut_down(session->socket)) {
                session_has_shut_down(session);
                break;
            }
            usleep(10000);
            continue;
        }
        if (got < 0 && !session->ended)
            report("receive_error", "\"error\":\"%s\"", strerror(errno));
        if (got <= 0)
            break;
        if (flags & MSG_NOTIFICATION) {
            session_notification(session, buffer + filled, (size_t)got);
            if (session->received.messages == 0 && session->received.bytes == 0 && session->restarts > 0)
                filled = 0; /* a message cut short by the restart */
            if (session->ended)
                break;
            continue;
        }
        filled += (uint32_t)got;
        if (flags & MSG_EOR) {
            whole_message(session, buffer, filled, &info);
            filled = 0;
        } else if (filled == limit) {
            report("error", "\"call\":\"receive\",\"error\":\"message longer than %u\"", limit);
            break;
        }
    }
    free(buffer);
    end_of_association(session);
    return NULL;
}

/* Waits until the association has ended or `messages` have arrived; true if they have. */
static bool wait_for(struct session *session, uint64_t messages)
{
    bool arrived;

    pthread_mutex_lock(&session->lock);
    while (!session->ended && session->received.messages < messages)
        pthread_cond_wait(&session->changed, &session->lock);
    arrived = session->received.messages >= messages;
    pthread_mutex_unlock(&session->lock);
    return arrived;
}

static bool wait_until_up(struct session *session)
{
    bool up;

    pthread_mutex_lock(&session->lock);
    while (!session->ended && !session->up)
        pthread_cond_wait(&session->changed, &session->lock);
    up = session->up;
    pthread_mutex_unlock(&session->lock);
    return up;
}

/* Round robin over `streams` streams from `first_stream` on. */
static bool send_messages(struct session *session, uint64_t messages, uint32_t size, uint16_t first_stream,
                          uint32_t streams)
{
    uint64_t *next = session->next;
    uint8_t *data = malloc(size);
    double start = seconds_now();
    uint64_t done = 0;
    const char *error = NULL;

    for (; data != NULL && done < messages; done++) {
        /* So that the second half goes out with the new addresses, however fast this is. */
        if (done == messages / 2 && !session_wait_for_changes(session)) {
            error = "not all changes of address done";
            break;
        }
        uint16_t stream = (uint16_t)(first_stream + done % streams);
        content_fill(data, size, next[stream], stream);
        if (stack_send(session->socket, data, size, stream, PPID_BASE + stream, session->options->unordered) < 0) {
            error = strerror(errno);
            break;
        }
        next[stream]++;
    }
    free(data);
    report("sent", "\"messages\":%llu,\"size\":%u,\"seconds\":%.6f,\"error\":%s%s%s", (unsigned long long)done, size,
           seconds_now() - start, error ? "\"" : "", error ? error : "null", error ? "\"" : "");
    return done == messages;
}

static void make_primary(struct session *session, const char *text)
{
    struct sctp_setprim primary = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&primary.ssp_addr;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&primary.ssp_addr;

    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        v4->sin_family = AF_INET, v4->sin_port = htons(session->options->remote_port);
    else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        v6->sin6_family = AF_INET6, v6->sin6_port = htons(session->options->remote_port);
    if (stack_set(session->socket, IPPROTO_SCTP, SCTP_PRIMARY_ADDR, &primary, sizeof primary) != 0)
        report("error", "\"call\":\"primary\",\"error\":\"%s\"", strerror(errno));
}

static bool close_now(struct session *session, enum closing how, const char *text)
{
    bool done = true;

    session->left = how == CLOSE_VANISH || how == CLOSE_ABORT;
    if (how == CLOSE_VANISH) {
        totals_report(&session->received);
        report("vanish", "");
        stack_vanish(session->options, session->socket, totals_ok(&session->received) ? 0 : 1);
    }
    if (how == CLOSE_SHUTDOWN && stack_shutdown(session->socket) != 0) {
        report("error", "\"call\":\"shutdown\",\"error\":\"%s\"", strerror(errno));
        done = false;
    }
    if (how == CLOSE_ABORT) {
        report("abort", "\"by\":\"us\"");
        if (stack_abort(session->socket, text) != 0) {
            report("error", "\"call\":\"abort\",\"error\":\"%s\"", strerror(errno));
            done = false;
        }
        return done; /* not every stack tells its own user about the end */
    }
    wait_for(session, UINT64_MAX);
    return done;
}

/* Takes commands until one of them closes or stdin ends; true when all were carried out. */
static bool obey(struct session *session, enum closing *how, const char **abort_text)
{
    static char line[1024];
    bool ok = true;

    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned long long messages;
        unsigned size, stream;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "send %llu %u %u", &messages, &size, &stream) == 3 && size > 0 && stream < MAX_STREAMS)
            ok &= send_messages(session, messages, size, (uint16_t)stream, 1);
        else if (sscanf(line, "expect %llu", &messages) == 1)
            ok &= wait_for(session, messages);
        else if (strcmp(line, "status") == 0)
            session_status(session);
        else if (strncmp(line, "primary ", 8) == 0)
            make_primary(session, line + 8);
        else if (strncmp(line, "add ", 4) == 0 || strncmp(line, "remove ", 7) == 0 || strncmp(line, "ask-primary ", 12) == 0)
            ok &= session_change(session, line);
        else if (strcmp(line, "shutdown") == 0)
            return *how = CLOSE_SHUTDOWN, ok;
        else if (strcmp(line, "vanish") == 0)
            return *how = CLOSE_VANISH, ok;
        else if (strncmp(line, "abort", 5) == 0)
            return *how = CLOSE_ABORT, *abort_text = line[5] == ' ' ? line + 6 : *abort_text, ok;
        else
            report("error", "\"call\":\"stdin\",\"error\":\"unknown command\"");
    }
    return ok;
}

int session_run(struct session *session)
{
    const struct options *o = session->options;
    const char *abort_text = o->abort_text;
    enum closing how = o->closing;
    struct timespec hold = {.tv_sec = o->hold_ms / 1000, .tv_nsec = o->hold_ms % 1000 * 1000000L};
    pthread_t receiver;
    bool ok;

    if (pthread_create(&receiver, NULL, receive_all, session) != 0)
        return 1;
    ok = wait_until_up(session);
    if (ok && o->send_messages > 0)
        ok = send_messages(session, o->send_messages, o->send_size, 0, o->send_streams);
    if (ok && o->expect_messages > 0)
        ok = wait_for(session, o->expect_messages);
    if (ok && o->hold_ms > 0)
        nanosleep(&hold, NULL);
    if (o->read_commands && session->up)
        ok &= obey(session, &how, &abort_text);
    if (session->up && !session->ended) {
        session_status(session);
        ok &= close_now(session, how, abort_text);
    }
    if (how != CLOSE_ABORT)
        pthread_join(receiver, NULL);
    totals_report(&session->received);
    return ok && totals_ok(&session->received) && (session->graceful || how == CLOSE_ABORT || session->aborted) ? 0 : 1;
}
