/* One SCTP peer for interoperability tests; --help tells the rest. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stack.h"

static struct options options;

static void *watchdog(void *unused)
{
    (void)unused;
    sleep(options.timeout_s);
    report("error", "\"call\":\"timeout\",\"error\":\"%u s are over\"", options.timeout_s);
    stack_exit(3);
}

static void *check(void *socket, const char *call)
{
    if (socket == NULL) {
        report("error", "\"call\":\"%s\",\"error\":\"%s\"", call, strerror(errno));
        stack_exit(1);
    }
    return socket;
}

static void wait_for_start(void)
{
    struct timespec now;
    double left;

    if (options.connect_at == 0)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    left = options.connect_at - ((double)now.tv_sec + (double)now.tv_nsec / 1e9);
    if (left > 0)
        usleep((useconds_t)(left * 1e6));
}

static int run(void *socket)
{
    struct session session = {
        .socket = socket, .options = &options, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER,
    };
    int status;

    session.received.streams = calloc(MAX_STREAMS, sizeof *session.received.streams);
    session.next = calloc(MAX_STREAMS, sizeof *session.next);
    if (session.received.streams == NULL || session.next == NULL)
        return 1;
    status = session_run(&session);
    totals_reset(&session.received);
    free(session.received.streams);
    free(session.next);
    return status;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    void *socket;
    int status = 0;

    options_parse(&options, argc, argv, stack_name);
    signal(SIGPIPE, SIG_IGN);
    report("start", "\"stack\":\"%s\",\"pid\":%d", stack_name, (int)getpid());
    pthread_create(&thread, NULL, watchdog, NULL);
    stack_start(&options);
    socket = check(stack_open(options.local.family == AF_INET6 || options.remote.family == AF_INET6 ? AF_INET6 : AF_INET),
                   "socket");
    tuning_apply(socket, &options);
    if (options.local.count > 0 || options.port != 0)
        check(stack_bind(socket, &options.local) == 0 ? socket : NULL, "bind");
    if (options.auto_asconf)
        check(stack_follow_host(socket) == 0 ? socket : NULL, "auto_asconf");
    if (options.role == ROLE_LISTEN) {
        check(stack_listen(socket) == 0 ? socket : NULL, "listen");
        report("listening", "\"port\":%u,\"udp\":%u", options.port, options.udp_port);
        for (uint32_t i = 0; i < options.associations; i++) {
            void *association = check(stack_accept(socket), "accept");
            status |= run(association);
        }
    } else {
        wait_for_start();
        check(stack_connect(socket, &options.remote) == 0 ? socket : NULL, "connect");
        status = run(socket);
    }
    report("exit", "\"status\":%d", status);
    stack_exit(status);
}
