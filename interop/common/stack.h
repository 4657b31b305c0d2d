/* What a stack provides to the shared peer. Both stacks speak the socket API of RFC 6458 with
 * the same structure and member names, so only the calls themselves differ. */
#ifndef INTEROP_STACK_H
#define INTEROP_STACK_H

#include "peer.h"

#ifdef PEER_KERNEL
#include <netinet/in.h>
#include <netinet/sctp.h>
#define SEND_FAILED_ERROR ssf_error
#else
#include <usrsctp.h>
#define SEND_FAILED_ERROR ssfe_error
#endif

extern const char stack_name[];

void stack_start(const struct options *options);
void *stack_open(int family);
int stack_set(void *socket, int level, int name, const void *value, socklen_t length);
int stack_get(void *socket, int level, int name, void *value, socklen_t *length);
int stack_bind(void *socket, struct addresses *local);
int stack_listen(void *socket);
/* Adds or removes a local address of an association that is up. */
int stack_change_address(void *socket, struct sockaddr *address, bool add);
/* From now on the addresses are those the host has, as they come and go. */
int stack_follow_host(void *socket);
void *stack_accept(void *socket);
int stack_connect(void *socket, struct addresses *remote);
ssize_t stack_send(void *socket, const void *data, size_t length, uint16_t stream, uint32_t ppid,
                   bool unordered);
/* As recvmsg: 0 at the end; *flags has MSG_EOR and MSG_NOTIFICATION. */
ssize_t stack_receive(void *socket, void *data, size_t length, struct sctp_rcvinfo *info, int *flags);
bool stack_is_unordered(const struct sctp_rcvinfo *info);
int stack_shutdown(void *socket);
/* Whether the association has ended in order, for a stack whose notification of that may get lost. */
bool stack_has_shut_down(void *socket);
/* Sends an ABORT, with this reason if the stack lets its user give one. */
int stack_abort(void *socket, const char *text);
/* Leaves without a packet: the peer must not learn that this end is gone. Does not return. */
void stack_vanish(const struct options *options, void *socket, int status) __attribute__((noreturn));
/* Ends the process; packets already handed over may still leave. */
void stack_exit(int status) __attribute__((noreturn));
/* Packed addresses of one end; count, or -1. stack_free_addresses releases them. */
int stack_addresses(void *socket, bool remote, struct sockaddr **addresses);
void stack_free_addresses(bool remote, struct sockaddr *addresses);

#endif
