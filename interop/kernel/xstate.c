/* Preloaded into linux.uml. User-mode-linux keeps the processor state of its processes in a buffer that is too small for
 * processors with AMX (11,008 bytes), and Linux takes back a whole state only: PTRACE_SETREGSET fails with EFAULT and the
 * guest panics ("ptrace set fp regs failed, errno = 14"). So what the guest gives is laid over the state that is there.
 * What lies behind it belongs to components that the guest does not know. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

static long (*system_ptrace)(int, ...);

static long set_state(long pid, const struct iovec *given)
{
    static _Thread_local char state[64 * 1024] __attribute__((aligned(64)));
    struct iovec whole = {state, sizeof state};

    if (system_ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &whole) != 0 || given->iov_len > whole.iov_len)
        return system_ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, given);
    memcpy(state, given->iov_base, given->iov_len);
    return system_ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &whole);
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list arguments;
    long pid;
    void *address, *data;

    va_start(arguments, request);
    pid = va_arg(arguments, long);
    address = va_arg(arguments, void *);
    data = va_arg(arguments, void *);
    va_end(arguments);
    if (system_ptrace == NULL)
        system_ptrace = (long (*)(int, ...))dlsym(RTLD_NEXT, "ptrace");
    if (request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE)
        return set_state(pid, data);
    return system_ptrace(request, pid, address, data);
}
