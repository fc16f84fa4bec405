/*
 * Waits in futex(2) with a known value in every register that a system call keeps, and says whether all are there when the wait is over.
 *
 * It prints the addresses that a test needs, then "ready". Other threads allocate and free. Each line on standard input ends one wait; the
 * answer to it is "kept N", with how often the function `scribble` was called, or the first register that changed.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int word;
/* Whether the processor has registers of 32 bytes: a frame that forgets them keeps only their lower halves. */
static int has_avx __attribute__((used));
static int lock;
static volatile long calls;
static volatile long argument;
static char text[16];
static unsigned long values[13];
static unsigned char vectors[16][16], seen[16][16];

/* Called from outside: changes everything that a function may change. */
__attribute__((noinline)) void scribble(long number, const char *words)
{
    argument = number;
    strncpy(text, words, sizeof text - 1);
    sigset_t blocked;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    if (!sigismember(&blocked, SIGUSR1)) {
        argument = -1;
    }
    __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n pcmpeqd %%xmm1, %%xmm1\n pcmpeqd %%xmm2, %%xmm2\n pcmpeqd %%xmm7, %%xmm7\n"
                     "pcmpeqd %%xmm8, %%xmm8\n pcmpeqd %%xmm14, %%xmm14\n pcmpeqd %%xmm15, %%xmm15\n"
                     "xor %%esi, %%esi\n xor %%edx, %%edx\n xor %%r8d, %%r8d\n xor %%r9d, %%r9d\n xor %%r10d, %%r10d\n"
                     ::: "xmm0", "xmm1", "xmm2", "xmm7", "xmm8", "xmm14", "xmm15", "rsi", "rdx", "r8", "r9", "r10", "memory");
    if (has_avx) {
        __asm__ volatile("vzeroall" ::: "xmm3", "xmm4");
    }
    void *block = malloc(100000);
    memset(block, 1, 100000);
    free(block);
    calls++;
}

static void *churn(void *nothing)
{
    for (unsigned i = 0;; i++) {
        free(malloc(16 + i % 5000));
        if (i % 64 == 0) {
            usleep(1000);
        }
    }
    return nothing;
}

static void *wake(void *nothing)
{
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
    _exit(0);
    return nothing;
}

/* One wait. Registers are loaded and read back in the same piece of assembly, so that no compiler uses them in between. */
static long wait_with_known_registers(void)
{
    register long result __asm__("rax") = SYS_futex;
    register long address __asm__("rdi") = (long)&word;
    register long operation __asm__("rsi") = FUTEX_WAIT_PRIVATE;
    register long expected __asm__("rdx") = 0;
    register long timeout __asm__("r10") = 0;
    register long other __asm__("r8") = 0x1111222233334444;
    register long third __asm__("r9") = 0x5555666677778888;
    __asm__ volatile(
        "movdqu (%[in]), %%xmm0\n movdqu 16(%[in]), %%xmm1\n movdqu 32(%[in]), %%xmm2\n movdqu 112(%[in]), %%xmm7\n"
        "movdqu 128(%[in]), %%xmm8\n movdqu 224(%[in]), %%xmm14\n movdqu 240(%[in]), %%xmm15\n"
        "movq $0x0123456789abcdef, %%r12\n movq %%r12, -8(%%rsp)\n"
        "cmpl $0, has_avx(%%rip)\n je 1f\n vmovdqu 48(%[in]), %%ymm3\n1:\n"
        "syscall\n"
        "cmpl $0, has_avx(%%rip)\n je 1f\n vmovdqu %%ymm3, 48(%[out])\n1:\n"
        "movdqu %%xmm0, (%[out])\n movdqu %%xmm1, 16(%[out])\n movdqu %%xmm2, 32(%[out])\n movdqu %%xmm7, 112(%[out])\n"
        "movdqu %%xmm8, 128(%[out])\n movdqu %%xmm14, 224(%[out])\n movdqu %%xmm15, 240(%[out])\n"
        "movq %%r12, (%[values])\n movq -8(%%rsp), %%r12\n movq %%r12, 8(%[values])\n"
        : "+r"(result), "+r"(address), "+r"(operation), "+r"(expected), "+r"(timeout), "+r"(other), "+r"(third)
        : [in] "r"(vectors), [out] "r"(seen), [values] "r"(values)
        : "rcx", "r11", "r12", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm7", "xmm8", "xmm14", "xmm15");
    values[2] = (unsigned long)address, values[3] = (unsigned long)operation, values[4] = (unsigned long)expected;
    values[5] = (unsigned long)timeout, values[6] = (unsigned long)other, values[7] = (unsigned long)third;
    return result;
}

int main(void)
{
    for (int i = 0; i < 16; i++) {
        memset(vectors[i], 0x10 + i, sizeof vectors[i]);
    }
    has_avx = __builtin_cpu_supports("avx");
    static const int used[] = {0, 1, 2, 7, 8, 14, 15, 3, 4};
    const unsigned number = has_avx ? 9 : 7;
    pthread_t thread;
    pthread_create(&thread, NULL, wake, NULL);
    pthread_create(&thread, NULL, churn, NULL);
    printf("waiting\nscribble %p\nlock %p\nword %p\ncalls %p\nready\n", (void *)scribble, (void *)&lock, (void *)&word, (void *)&calls);
    fflush(stdout);
    for (;;) {
        long result = 0;
        while (__atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0) {
            memset(seen, 0, sizeof seen);
            result = wait_with_known_registers();
            const char *wrong = NULL;
            for (unsigned i = 0; i < number; i++) {
                wrong = memcmp(vectors[used[i]], seen[used[i]], 16) == 0 ? wrong : "a vector register";
            }
            wrong = values[0] == 0x0123456789abcdef ? wrong : "r12";
            wrong = values[1] == 0x0123456789abcdef ? wrong : "the red zone";
            wrong = values[2] == (unsigned long)&word && values[3] == FUTEX_WAIT_PRIVATE && values[4] == 0 && values[5] == 0 ? wrong : "an argument";
            wrong = values[6] == 0x1111222233334444 && values[7] == 0x5555666677778888 ? wrong : "r8 or r9";
            sigset_t blocked;
            sigprocmask(SIG_BLOCK, NULL, &blocked);
            wrong = sigismember(&blocked, SIGUSR1) ? "the signal mask" : wrong;
            if (wrong != NULL || (result != 0 && result != -11)) {
                printf("%s changed (%ld)\n", wrong ? wrong : "the result", result);
                fflush(stdout);
                return 1;
            }
        }
        __atomic_store_n(&word, 0, __ATOMIC_SEQ_CST);
        printf("kept %ld %ld %s\n", calls, argument, text);
        fflush(stdout);
    }
}
