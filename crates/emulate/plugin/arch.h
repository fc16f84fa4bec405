/* What of the plug-in depends on the guest's processor: one table for each architecture, all of them in one plug-in. */
#ifndef ASSAY_ARCH_H
#define ASSAY_ARCH_H

#include "model.h"

enum { MARK_BEGIN = 1, MARK_END = 2, MARK_CLIENT = 3, MARK_LAST = 3 };

/* Instructions that several processors agree by. */
enum atomic {
    ATOMIC_NONE,
    ATOMIC_EXCLUSIVE_LOAD,  /* reads, and watches what it read */
    ATOMIC_EXCLUSIVE_STORE, /* writes if nobody else did since then; counted whether it did or not */
    ATOMIC_WHOLE            /* reads, changes and writes in one instruction */
};

/* An instruction, as far as it matters here. All is 0 for most. */
struct decoded {
    unsigned mark;      /* number of the mark that it is */
    bool switches;      /* by it the kernel reads where the next task's state is kept */
    bool pushes;        /* writes to the stack that the stack pointer shows */
    bool repeats;       /* a string instruction that begins its block anew in each round */
    bool drops_tlb;     /* user pages leave the TLBs */
    bool makes_syscall;
    enum atomic atomic;
    enum branch branch;
    uint64_t target;    /* of a branch that has it in the instruction */
};

struct arch {
    const char *name; /* as QEMU calls it */
    unsigned page_bits;
    struct decoded (*decode)(const uint8_t *bytes, size_t size, uint64_t at);
};

extern const struct arch arch_x86_64, arch_aarch64;
/* Null if there is none of this name. */
const struct arch *arch_of(const char *name);

/* Whether code or data at this address are the kernel's. */
static inline bool is_kernel(uint64_t address) {
    return address >> 63;
}

#endif
