/* The SCTP peer's shared part: options, reports, content and the life of one association.
 * It is compiled once per stack; stack.h names what a stack has to provide. */
#ifndef INTEROP_PEER_H
#define INTEROP_PEER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { MAX_ADDRESSES = 16, MAX_STREAMS = 65536, MAX_CHANGES = 16 };

/* PPID of every message on stream s is PPID_BASE + s. */
#define PPID_BASE 0x57480000u

/* Addresses packed one after another, as the SCTP socket API wants them. */
struct addresses {
    int count;
    int family; /* AF_INET6 as soon as one address is IPv6 */
    uint8_t packed[MAX_ADDRESSES * sizeof(struct sockaddr_storage)];
};

enum role { ROLE_NONE, ROLE_LISTEN, ROLE_CONNECT };
enum closing { CLOSE_DEFAULT, CLOSE_SHUTDOWN, CLOSE_ABORT, CLOSE_VANISH, CLOSE_WAIT };

struct options {
    enum role role;
    struct addresses local, remote;
    const char *bind_text, *connect_text;
    uint16_t port, remote_port;       /* SCTP */
    uint16_t udp_port, udp_remote;    /* RFC 6951; 0: raw IP */
    uint64_t send_messages;
    uint32_t send_size;
    uint32_t send_streams;
    bool unordered, echo, plain, asconf, auto_asconf, read_commands, dac, nr_sack;
    int cmt;                          /* concurrent multipath transfer: SCTP_CMT_OFF, SCTP_CMT_BASE ... */
    const char *change[MAX_CHANGES];  /* one at each report of progress */
    uint32_t changes;
    uint64_t expect_messages;
    uint64_t progress_bytes;
    uint32_t message_limit;           /* largest message taken */
    uint32_t associations;            /* listen: how many, one after another */
    enum closing closing;
    const char *abort_text;
    uint32_t hold_ms, timeout_s;
    double connect_at;                /* seconds since the epoch; 0: now */
    int rto_min, rto_initial, rto_max, path_retransmits, association_retransmits;
    int init_retransmits, heartbeat_ms, sack_delay_ms, sack_frequency, path_mtu;
    int send_buffer, receive_buffer;  /* -1: leave the stack's default */
    uint32_t streams_out, streams_in;
    uint16_t key_id;                  /* endpoint pair shared key (RFC 4895) */
    const char *key;                  /* NULL: none */
    uint16_t hmac;                    /* most wanted HMAC identifier; 0: as the stack likes */
};

void options_parse(struct options *options, int argc, char **argv, const char *stack_name);
int address_length(const struct sockaddr *address);
void address_text(const struct sockaddr *address, char *text, size_t size);

/* One JSON object per line on stdout; `fields` is a printf format of its members. */
void report(const char *event, const char *fields, ...) __attribute__((format(printf, 2, 3)));
/* Writes at most size - 1 bytes of text, escaped for the inside of a JSON string. */
void json_escape(const char *text, size_t length, char *out, size_t size);
double seconds_now(void);

/* Byte i of message number n (from 0, counted per stream) on stream s. */
void content_fill(uint8_t *data, uint32_t length, uint64_t n, uint16_t stream);

struct stream_totals {
    uint64_t messages, bytes;
    uint32_t ppid, other_ppids;       /* first PPID seen; messages with another one */
    uint32_t *numbers;                /* unordered: how often each n mod 256 was seen */
};
struct totals {
    uint64_t messages, bytes, bad, unordered;
    double first, last;
    struct stream_totals *streams;    /* MAX_STREAMS of them */
};
void totals_add(struct totals *totals, const uint8_t *data, uint32_t length, uint16_t stream,
                uint32_t ppid, bool unordered);
bool totals_ok(const struct totals *totals);
void totals_report(const struct totals *totals);
void totals_reset(struct totals *totals);

/* Applies what the options say to a socket before it is used; reports what the stack refuses. */
void tuning_apply(void *socket, const struct options *options);

struct session {
    void *socket;
    const struct options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool up, ended, graceful, aborted, left, changes_failed;
    uint32_t changes_done;
    uint64_t send_failures, restarts;
    struct totals received;
    uint64_t *next;                   /* per stream: number of the next message we send */
};
/* Runs one association to its end; returns the exit status (0: all as asked). */
int session_run(struct session *session);
void session_notification(struct session *session, const void *notification, size_t length);
/* The association has ended in order, and no notification will say so. */
void session_has_shut_down(struct session *session);
void session_status(struct session *session);
/* "add ADDR", "remove ADDR", "ask-primary ADDR", or "await ADDR": of our own addresses, now; false if the stack refuses. */
bool session_change(struct session *session, const char *command);
/* The next of --change. */
void session_change_next(struct session *session);
/* True when all of --change are done. */
bool session_wait_for_changes(struct session *session);

#endif
