#include "model.h"
#include <stdlib.h>
#include <string.h>

bool sets_init(struct sets *sets, uint64_t entries, uint64_t ways) {
    uint64_t count = ways == 0 ? 0 : entries / ways;
    if (count == 0 || entries % ways != 0 || (count & (count - 1)) != 0 || entries > 1u << 26) return false;
    sets->ways = (unsigned)ways;
    sets->set_mask = count - 1;
    sets->tags = calloc(entries, sizeof *sets->tags);
    sets->data = calloc(entries, sizeof *sets->data);
    for (uint64_t i = 0; sets->data && i < entries; i++) sets->data[i] = i;
    return sets->tags && sets->data;
}

void sets_clear(struct sets *sets) {
    memset(sets->tags, 0, (sets->set_mask + 1) * sets->ways * sizeof *sets->tags);
}

void sets_drop(struct sets *sets, bool (*is)(uint64_t tag)) {
    for (uint64_t i = 0; i < (sets->set_mask + 1) * sets->ways; i++)
        if (sets->tags[i] != 0 && is(sets->tags[i] - 1)) sets->tags[i] = 0;
}

/* Tags are one more than the number, so that 0 is nothing. */
static void to_front(uint64_t *tags, uint64_t *data, unsigned from, uint64_t tag) {
    uint64_t kept = data[from];
    memmove(tags + 1, tags, from * sizeof *tags);
    memmove(data + 1, data, from * sizeof *data);
    tags[0] = tag;
    data[0] = kept;
}

uint64_t *sets_find(struct sets *sets, uint64_t number) {
    uint64_t first = (number & sets->set_mask) * sets->ways, tag = number + 1;
    uint64_t *tags = sets->tags + first, *data = sets->data + first;
    if (tags[0] == tag) return data;
    for (unsigned way = 1; way < sets->ways; way++)
        if (tags[way] == tag) {
            to_front(tags, data, way, tag);
            return data;
        }
    return NULL;
}

uint64_t *sets_add(struct sets *sets, uint64_t number) {
    uint64_t first = (number & sets->set_mask) * sets->ways;
    uint64_t *tags = sets->tags + first, *data = sets->data + first;
    unsigned way = 0;
    while (way + 1 < sets->ways && tags[way] != 0) way++;
    to_front(tags, data, way, number + 1);
    return data;
}

bool sets_use(struct sets *sets, uint64_t number) {
    if (sets_find(sets, number)) return true;
    sets_add(sets, number);
    return false;
}

struct btb_entry {
    uint64_t target;
    uint8_t history;      /* its last 4 outcomes */
    uint8_t counters[16]; /* two bits each: 2 and 3 say taken */
};

bool branches_init(struct branches *b, enum predictor predictor, unsigned history_bits, uint64_t entries, uint64_t ways) {
    memset(b, 0, sizeof *b);
    if (!sets_init(&b->btb, entries, ways) || history_bits > 24) return false;
    b->predictor = predictor;
    b->history_bits = history_bits;
    b->entries = calloc(entries, sizeof *b->entries);
    b->counters = malloc((size_t)1 << history_bits);
    if (b->counters) memset(b->counters, 1, (size_t)1 << history_bits);
    return b->entries && b->counters;
}

static void train(uint8_t *counter, bool taken) {
    if (taken && *counter < 3) (*counter)++;
    if (!taken && *counter > 0) (*counter)--;
}

static struct btb_entry *enter(struct branches *b, uint64_t at, uint64_t target) {
    struct btb_entry *entry = b->entries + *sets_add(&b->btb, at);
    entry->target = target;
    entry->history = 0;
    memset(entry->counters, 2, sizeof entry->counters);
    return entry;
}

static bool direction(struct branches *b, struct btb_entry *entry, uint64_t at, uint64_t target, bool taken) {
    if (b->predictor == PREDICTOR_GSHARE) {
        uint64_t mask = ((uint64_t)1 << b->history_bits) - 1;
        uint8_t *counter = b->counters + ((at ^ b->history) & mask);
        bool says = *counter >= 2;
        train(counter, taken);
        b->history = (b->history << 1 | taken) & mask;
        return says;
    }
    if (!entry) return target < at;
    uint8_t *counter = entry->counters + entry->history;
    bool says = *counter >= 2;
    train(counter, taken);
    entry->history = (entry->history << 1 | taken) & 15;
    return says;
}

struct outcome branches_execute(struct branches *b, enum branch kind, uint64_t at, uint64_t next, uint64_t target, bool taken) {
    struct outcome outcome = {false, false};
    if (kind == BRANCH_NONE) return outcome;
    uint64_t *slot = sets_find(&b->btb, at);
    struct btb_entry *entry = slot ? b->entries + *slot : NULL;
    outcome.btb_missed = !entry;
    switch (kind) {
    case BRANCH_IF: outcome.mispredicted = direction(b, entry, at, target, taken) != taken; break;
    case BRANCH_JUMP_INDIRECT:
    case BRANCH_CALL_INDIRECT: outcome.mispredicted = !entry || entry->target != target; break;
    case BRANCH_RETURN:
        b->top = (b->top + RETURNS - 1) % RETURNS;
        outcome.mispredicted = b->returns[b->top] != target;
        break;
    default: break;
    }
    if (kind == BRANCH_CALL || kind == BRANCH_CALL_INDIRECT) {
        b->returns[b->top] = next;
        b->top = (b->top + 1) % RETURNS;
    }
    if (entry) entry->target = taken ? target : entry->target;
    else if (taken) enter(b, at, target);
    return outcome;
}
