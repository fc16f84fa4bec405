/* AArch64. Encodings: Arm Architecture Reference Manual for A-profile (DDI 0487), chapter C4. */
#include "arch.h"
#include <string.h>

/* movz xzr, #0x41NN, lsl #48: NN is the mark's number. */
enum { MARK = 0xd2e8201f, MARK_STEP = 32 };
/* ldr x30, [x8]: in the kernel only cpu_switch_to reads so what it returns to, from the next task's thread.cpu_context. */
enum { SWITCH = 0xf940011e };

static bool matches(uint32_t word, uint32_t mask, uint32_t value) {
    return (word & mask) == value;
}

/* The signed offset in these bits, in words, from an address. */
static uint64_t relative(uint64_t at, uint32_t word, unsigned lowest, unsigned bits) {
    int64_t offset = (int64_t)((uint64_t)(word >> lowest) << (64 - bits)) >> (64 - bits);
    return at + (uint64_t)(offset * 4);
}

static enum branch branch_of(uint32_t word, uint64_t at, uint64_t *target) {
    if (matches(word, 0x7c000000, 0x14000000)) { /* b, bl */
        *target = relative(at, word, 0, 26);
        return word >> 31 ? BRANCH_CALL : BRANCH_JUMP;
    }
    if (matches(word, 0xff000000, 0x54000000) || matches(word, 0x7e000000, 0x34000000)) { /* b.cond; cbz, cbnz */
        *target = relative(at, word, 5, 19);
        return BRANCH_IF;
    }
    if (matches(word, 0x7e000000, 0x36000000)) { /* tbz, tbnz */
        *target = relative(at, word, 5, 14);
        return BRANCH_IF;
    }
    if (!matches(word, 0xfe000000, 0xd6000000)) return BRANCH_NONE;
    switch (word >> 21 & 7) { /* with and without authentication of the pointer; 4 is eret */
    case 0: return BRANCH_JUMP_INDIRECT;
    case 1: return BRANCH_CALL_INDIRECT;
    case 2: return BRANCH_RETURN;
    default: return BRANCH_NONE;
    }
}

static enum atomic atomic_of(uint32_t word) {
    /* Load/store exclusive, ordered, compare and swap: size 001000 o2 L o1 Rs o0 Rt2 Rn Rt. */
    if (matches(word, 0x3f000000, 0x08000000)) {
        bool o2 = word >> 23 & 1, loads = word >> 22 & 1, o1 = word >> 21 & 1, is_wide = word >> 31;
        if (o2) return o1 ? ATOMIC_WHOLE : ATOMIC_NONE; /* cas; ldar, stlr, ldlar, stllr */
        if (o1 && !is_wide) return ATOMIC_WHOLE;        /* casp */
        return loads ? ATOMIC_EXCLUSIVE_LOAD : ATOMIC_EXCLUSIVE_STORE;
    }
    /* Atomic memory operations: size 111 0 00 A R 1 Rs o3 opc 00 Rn Rt. With o3, opc 0 is swp; the others are ldapr, ld64b, st64b. */
    if (matches(word, 0x3f200c00, 0x38200000)) return (word >> 15 & 1) == 0 || (word >> 12 & 7) == 0 ? ATOMIC_WHOLE : ATOMIC_NONE;
    return ATOMIC_NONE;
}

static struct decoded decode(const uint8_t *bytes, size_t size, uint64_t at) {
    struct decoded is = {0};
    uint32_t word;
    if (size != sizeof word) return is;
    memcpy(&word, bytes, sizeof word);
    uint32_t number = (word - (uint32_t)MARK) / MARK_STEP;
    if (word % MARK_STEP == (uint32_t)MARK % MARK_STEP && number <= MARK_LAST) is.mark = number;
    is.switches = is_kernel(at) && word == (uint32_t)SWITCH;
    is.pushes = matches(word, 0xffc07fff, 0xa9807bfd);        /* stp x29, x30, [sp, #n]! */
    is.drops_tlb = matches(word, 0xfff8f000, 0xd5088000);     /* tlbi */
    is.makes_syscall = matches(word, 0xffe0001f, 0xd4000001); /* svc */
    is.atomic = atomic_of(word);
    is.branch = branch_of(word, at, &is.target);
    return is;
}

const struct arch arch_aarch64 = {"aarch64", 12, decode};
