/* x86-64. Encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
#include "arch.h"
#include <string.h>

/* nopl 0x414153NN(%rax): NN is the mark's number. */
static const uint8_t MARK[] = {0x0f, 0x1f, 0x80}, MARK_TAIL[] = {0x53, 0x41, 0x41};
/* mov disp32(%rsi),%rsp: only the kernel's __switch_to_asm loads the stack pointer from memory that %rsi points at. */
static const uint8_t SWITCH[] = {0x48, 0x8b, 0xa6};

static const uint8_t *skip_prefixes(const uint8_t *p, const uint8_t *end, bool *repeats, bool *locks) {
    for (; p < end; p++) {
        switch (*p) {
        case 0xf2: case 0xf3: *repeats = true; continue;
        case 0xf0: *locks = true; continue;
        case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65: case 0x66: case 0x67: continue;
        default:
            if ((*p & 0xf0) == 0x40) continue;
            return p;
        }
    }
    return p;
}

static uint64_t relative(const uint8_t *p, const uint8_t *end, uint64_t next, size_t bytes) {
    int32_t offset = 0;
    if ((size_t)(end - p) < bytes) return next;
    if (bytes == 1) return next + (int64_t)(int8_t)*p;
    memcpy(&offset, p, sizeof offset);
    return next + (int64_t)offset;
}

/* From the operation on, without prefixes. Far transfers (system calls, interrupts and their returns) are none. */
static enum branch branch_of(const uint8_t *p, const uint8_t *end, uint64_t next, uint64_t *target) {
    uint8_t op = *p++;
    if ((op & 0xf0) == 0x70 || (op & 0xfc) == 0xe0) {
        *target = relative(p, end, next, 1);
        return BRANCH_IF;
    }
    switch (op) {
    case 0x0f:
        if (p == end || (*p & 0xf0) != 0x80) return BRANCH_NONE;
        *target = relative(p + 1, end, next, 4);
        return BRANCH_IF;
    case 0xe8: *target = relative(p, end, next, 4); return BRANCH_CALL;
    case 0xe9: *target = relative(p, end, next, 4); return BRANCH_JUMP;
    case 0xeb: *target = relative(p, end, next, 1); return BRANCH_JUMP;
    case 0xc2: case 0xc3: return BRANCH_RETURN;
    case 0xff:
        if (p == end) return BRANCH_NONE;
        if ((*p >> 3 & 7) == 2) return BRANCH_CALL_INDIRECT;
        return (*p >> 3 & 7) == 4 ? BRANCH_JUMP_INDIRECT : BRANCH_NONE;
    default: return BRANCH_NONE;
    }
}

static bool begins_with(const uint8_t *bytes, const uint8_t *start, size_t size) {
    return memcmp(bytes, start, size) == 0;
}

static struct decoded decode(const uint8_t *bytes, size_t size, uint64_t at) {
    struct decoded is = {0};
    bool repeats = false, locks = false;
    const uint8_t *end = bytes + size, *p = skip_prefixes(bytes, end, &repeats, &locks);
    if (p == end) return is;
    if (size == 7) {
        bool is_mark = begins_with(bytes, MARK, sizeof MARK) && begins_with(bytes + 4, MARK_TAIL, sizeof MARK_TAIL);
        if (is_mark && bytes[3] <= MARK_LAST) is.mark = bytes[3];
        is.switches = begins_with(bytes, SWITCH, sizeof SWITCH);
    }
    /* A register, or the address of return of a near call. */
    size_t rex = bytes[0] >> 4 == 4 && size > 1;
    is.pushes = bytes[rex] >> 3 == 0x50 >> 3 || bytes[0] == 0xe8;
    is.repeats = repeats && ((*p >= 0xa4 && *p <= 0xa7) || (*p >= 0xaa && *p <= 0xaf) || (*p >= 0x6c && *p <= 0x6f));
    is.drops_tlb = size >= 3 && bytes[0] == 0x0f && bytes[1] == 0x22 && (bytes[2] & 0x38) == 0x18; /* loads CR3 */
    is.makes_syscall = size == 2 && bytes[0] == 0x0f && bytes[1] == 0x05;
    /* An exchange with memory needs no prefix. */
    bool exchanges = (*p & 0xfe) == 0x86 && p + 1 < end && p[1] >> 6 != 3;
    if (locks || exchanges) is.atomic = ATOMIC_WHOLE;
    is.branch = branch_of(p, end, at + size, &is.target);
    return is;
}

const struct arch arch_x86_64 = {"x86_64", 12, decode};
