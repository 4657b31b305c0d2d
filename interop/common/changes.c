/* Changes of our own addresses while the association lives (RFC 5061): the stack does them, and tells the peer. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stack.h"

/* The SCTP port the association uses here; the stacks compare it, too. */
static uint16_t own_port(struct session *session)
{
    struct sockaddr *addresses = NULL;
    uint16_t port = 0;

    if (stack_addresses(session->socket, false, &addresses) > 0) {
        port = ((struct sockaddr_in *)addresses)->sin_port; /* at the same place for IPv6 */
        stack_free_addresses(false, addresses);
    }
    return port;
}

static bool parse(const char *text, uint16_t port, struct sockaddr_storage *address)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;

    memset(address, 0, sizeof *address);
    if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
        v4->sin_family = AF_INET, v4->sin_port = port;
    else if (inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
        v6->sin6_family = AF_INET6, v6->sin6_port = port;
    else
        return false;
    return true;
}

static int ask_primary(struct session *session, const struct sockaddr_storage *address)
{
    struct sctp_setpeerprim primary = {0};

    memcpy(&primary.sspp_addr, address, sizeof *address);
    return stack_set(session->socket, IPPROTO_SCTP, SCTP_SET_PEER_PRIMARY_ADDR, &primary, sizeof primary);
}

static bool is_ours(struct session *session, const char *wanted)
{
    struct sockaddr *addresses = NULL;
    int count = stack_addresses(session->socket, false, &addresses);
    bool found = false;
    char text[64];

    for (const uint8_t *at = (const uint8_t *)addresses; count-- > 0;) {
        address_text((const struct sockaddr *)at, text, sizeof text);
        found |= strcmp(text, wanted) == 0;
        at += address_length((const struct sockaddr *)at);
    }
    if (addresses != NULL)
        stack_free_addresses(false, addresses);
    return found;
}

/* Until the stack, which follows the host, has put the address into the association; --timeout is the limit. */
static int await(struct session *session, const char *wanted)
{
    while (!is_ours(session, wanted))
        usleep(20000);
    return 0;
}

bool session_change(struct session *session, const char *command)
{
    struct sockaddr_storage address;
    char verb[16], text[64];
    int result = -1;

    errno = EINVAL;
    if (sscanf(command, "%15s %63s", verb, text) == 2 && parse(text, own_port(session), &address)) {
        if (strcmp(verb, "add") == 0)
            result = stack_change_address(session->socket, (struct sockaddr *)&address, true);
        else if (strcmp(verb, "remove") == 0)
            result = stack_change_address(session->socket, (struct sockaddr *)&address, false);
        else if (strcmp(verb, "ask-primary") == 0)
            result = ask_primary(session, &address);
        else if (strcmp(verb, "await") == 0)
            result = await(session, text);
    }
    report("change", "\"command\":\"%s\",\"error\":%s%s%s", command, result < 0 ? "\"" : "",
           result < 0 ? strerror(errno) : "null", result < 0 ? "\"" : "");
    return result >= 0;
}

void session_change_next(struct session *session)
{
    const struct options *o = session->options;

    if (session->changes_done == o->changes)
        return;
    bool done = session_change(session, o->change[session->changes_done]);
    pthread_mutex_lock(&session->lock);
    session->changes_failed |= !done;
    session->changes_done++;
    pthread_cond_broadcast(&session->changed);
    pthread_mutex_unlock(&session->lock);
}

bool session_wait_for_changes(struct session *session)
{
    bool done;

    pthread_mutex_lock(&session->lock);
    while (!session->ended && session->changes_done < session->options->changes)
        pthread_cond_wait(&session->changed, &session->lock);
    done = session->changes_done == session->options->changes && !session->changes_failed;
    pthread_mutex_unlock(&session->lock);
    return done;
}
