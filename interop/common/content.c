/* The content every peer sends and checks, so that a lost, doubled, swapped or damaged message
 * shows: byte i of message n on stream s is (n*131 + s*17 + i) & 0xff, n counted per stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

static uint8_t first_byte(uint64_t n, uint16_t stream)
{
    return (uint8_t)(n * 131 + (uint64_t)stream * 17);
}

void content_fill(uint8_t *data, uint32_t length, uint64_t n, uint16_t stream)
{
    uint8_t value = first_byte(n, stream);
    for (uint32_t i = 0; i < length; i++)
        data[i] = value++;
}

static bool counts_up(const uint8_t *data, uint32_t length)
{
    uint8_t value = data[0];
    for (uint32_t i = 0; i < length; i++)
        if (data[i] != value++)
            return false;
    return true;
}

/* 131 is odd, so the first byte tells n mod 256: 43 * 131 = 1 (mod 256). */
static uint8_t number_of(uint8_t first, uint16_t stream)
{
    return (uint8_t)((first - stream * 17) * 43);
}

void totals_add(struct totals *totals, const uint8_t *data, uint32_t length, uint16_t stream,
                uint32_t ppid, bool unordered)
{
    struct stream_totals *of = &totals->streams[stream];
    bool good = length > 0 && counts_up(data, length);

    if (unordered) {
        if (of->numbers == NULL)
            of->numbers = calloc(256, sizeof *of->numbers);
        if (of->numbers != NULL && good)
            of->numbers[number_of(data[0], stream)]++;
        totals->unordered++;
    } else if (good) {
        good = data[0] == first_byte(of->messages, stream);
    }
    if (of->messages == 0)
        of->ppid = ppid;
    else if (ppid != of->ppid)
        of->other_ppids++;
    if (ppid != PPID_BASE + stream)
        good = false;
    of->messages++;
    of->bytes += length;
    totals->last = seconds_now();
    if (totals->messages == 0)
        totals->first = totals->last;
    totals->messages++;
    totals->bytes += length;
    if (!good && totals->bad++ < 5)
        report("bad_message", "\"stream\":%u,\"ppid\":%u,\"length\":%u,\"number_on_stream\":%llu", stream,
               ppid, length, (unsigned long long)of->messages - 1);
}

/* Unordered messages 0..n-1 must have been seen once each, as far as n mod 256 can tell. */
static bool numbers_even(const struct stream_totals *of)
{
    for (unsigned residue = 0; residue < 256; residue++)
        if (of->numbers[residue] != of->messages / 256 + (residue < of->messages % 256))
            return false;
    return true;
}

bool totals_ok(const struct totals *totals)
{
    if (totals->bad > 0)
        return false;
    for (unsigned s = 0; s < MAX_STREAMS; s++)
        if (totals->streams[s].numbers != NULL && !numbers_even(&totals->streams[s]))
            return false;
    return true;
}

void totals_report(const struct totals *totals)
{
    enum { SHOWN = 16 };
    char list[SHOWN * 96 + 1] = "";
    size_t used = 0;
    unsigned seen = 0;

    for (unsigned s = 0; s < MAX_STREAMS; s++) {
        const struct stream_totals *of = &totals->streams[s];
        if (of->messages == 0)
            continue;
        if (seen++ < SHOWN)
            used += (size_t)snprintf(list + used, sizeof list - used,
                                     "%s{\"id\":%u,\"messages\":%llu,\"bytes\":%llu,\"ppid\":%u,\"other_ppids\":%u}",
                                     used ? "," : "", s, (unsigned long long)of->messages,
                                     (unsigned long long)of->bytes, of->ppid, of->other_ppids);
    }
    report("received",
           "\"messages\":%llu,\"bytes\":%llu,\"bad\":%llu,\"unordered\":%llu,\"ok\":%s,\"seconds\":%.6f,"
           "\"streams_seen\":%u,\"streams\":[%s]",
           (unsigned long long)totals->messages, (unsigned long long)totals->bytes,
           (unsigned long long)totals->bad, (unsigned long long)totals->unordered,
           totals_ok(totals) ? "true" : "false", totals->last - totals->first, seen, list);
}

void totals_reset(struct totals *totals)
{
    struct stream_totals *streams = totals->streams;

    for (unsigned s = 0; s < MAX_STREAMS; s++)
        free(streams[s].numbers);
    memset(streams, 0, MAX_STREAMS * sizeof *streams);
    memset(totals, 0, sizeof *totals);
    totals->streams = streams;
}
