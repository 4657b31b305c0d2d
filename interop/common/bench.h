/* What every benchmark here reports, so that their lines can stand in one table. */
#ifndef INTEROP_BENCH_H
#define INTEROP_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static inline double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* CPU seconds of this process so far, all threads: user, then system. */
static inline void bench_cpu(double *user, double *sys)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *user = (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6;
    *sys = (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

static inline long bench_rss_kib(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL) {
        if (fscanf(file, "%*d %ld", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages * 4;
}

struct bench {
    const char *stack, *role;
    uint32_t size;
    uint64_t bytes, messages;
    double start, user, sys; /* readings at the start */
};

static inline void bench_start(struct bench *bench)
{
    bench->bytes = bench->messages = 0;
    bench_cpu(&bench->user, &bench->sys);
    bench->start = bench_now();
}

/* Transfers: one line per process; CPU s/GB of both ends together is the sum of the two lines'. */
static inline void bench_print(const struct bench *bench)
{
    double user, sys, seconds = bench_now() - bench->start;

    bench_cpu(&user, &sys);
    user -= bench->user;
    sys -= bench->sys;
    printf("{\"stack\":\"%s\",\"role\":\"%s\",\"size\":%u,\"seconds\":%.6f,\"bytes\":%llu,\"messages\":%llu,"
           "\"cpu_user\":%.6f,\"cpu_sys\":%.6f,\"mb_per_s\":%.1f,\"messages_per_s\":%.0f,\"cpu_s_per_gb\":%.3f}\n",
           bench->stack, bench->role, bench->size, seconds, (unsigned long long)bench->bytes,
           (unsigned long long)bench->messages, user, sys, (double)bench->bytes / seconds / 1e6,
           (double)bench->messages / seconds, bench->bytes ? (user + sys) / ((double)bench->bytes / 1e9) : 0.0);
    fflush(stdout);
}

#endif
