#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "peer.h"

static double started;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void report(const char *event, const char *fields, ...)
{
    va_list arguments;

    pthread_mutex_lock(&output);
    if (started == 0)
        started = seconds_now();
    printf("{\"t\":%.6f,\"event\":\"%s\"", seconds_now() - started, event);
    if (*fields != '\0') {
        putchar(',');
        va_start(arguments, fields);
        vprintf(fields, arguments);
        va_end(arguments);
    }
    puts("}");
    fflush(stdout);
    pthread_mutex_unlock(&output);
}

void json_escape(const char *text, size_t length, char *out, size_t size)
{
    size_t used = 0;

    for (size_t i = 0; i < length && used + 7 < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            used += (size_t)snprintf(out + used, size - used, "\\%c", c);
        else if (c < 0x20 || c > 0x7e)
            used += (size_t)snprintf(out + used, size - used, "\\u%04x", c);
        else
            out[used++] = (char)c;
    }
    out[used] = '\0';
}
