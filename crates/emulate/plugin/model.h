/* Models of caches, TLBs and branch prediction. They know neither QEMU nor Java, and are tested without both. */
#ifndef ASSAY_MODEL_H
#define ASSAY_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set-associative store of tags that gives up what was used longest ago. A cache holds addresses divided by its line, a TLB those
 * divided by the page, a BTB those of branches. */
struct sets {
    unsigned ways;
    uint64_t set_mask;
    uint64_t *tags; /* of each set, what was used last comes first; 0 is nothing */
    uint64_t *data; /* beside each tag */
};

/* Room for `entries` in sets of `ways`: both above 0, and the number of sets a power of two. False if not. */
bool sets_init(struct sets *sets, uint64_t entries, uint64_t ways);
void sets_clear(struct sets *sets);
/* Gives up every entry whose tag `is` says so. */
void sets_drop(struct sets *sets, bool (*is)(uint64_t tag));
/* Whether it was there; it is from now on, in front. */
bool sets_use(struct sets *sets, uint64_t number);
/* What is kept beside it, moved to the front; null if it is not there. */
uint64_t *sets_find(struct sets *sets, uint64_t number);
/* Makes room for it in front. It must not be there. */
uint64_t *sets_add(struct sets *sets, uint64_t number);

enum branch {
    BRANCH_NONE,
    BRANCH_IF,            /* conditional, with its target in the instruction */
    BRANCH_JUMP,          /* always, with its target in the instruction */
    BRANCH_CALL,
    BRANCH_JUMP_INDIRECT, /* target in a register or in memory */
    BRANCH_CALL_INDIRECT,
    BRANCH_RETURN
};

/* What decides a conditional branch. */
enum predictor {
    PREDICTOR_LOCAL, /* of each branch in the BTB its last 4 outcomes choose one of 16 counters of two bits; what is not in the BTB is
                        taken if it goes backwards: the P6 family */
    PREDICTOR_GSHARE /* the last outcomes of all branches, xor the address, choose one of 2^history_bits counters */
};

#define RETURNS 16 /* addresses that the return stack holds */

struct branches {
    enum predictor predictor;
    unsigned history_bits;
    uint64_t history;
    struct sets btb;        /* beside each tag: the number of its entry in `entries` */
    struct btb_entry *entries;
    uint8_t *counters;      /* of gshare */
    uint64_t returns[RETURNS];
    unsigned top;
};

bool branches_init(struct branches *b, enum predictor predictor, unsigned history_bits, uint64_t entries, uint64_t ways);

struct outcome {
    bool btb_missed;
    bool mispredicted; /* direction or target */
};

/* A branch that was executed: where it is, what comes after it, where it goes, and whether it did. */
struct outcome branches_execute(struct branches *b, enum branch kind, uint64_t at, uint64_t next, uint64_t target, bool taken);

#endif
