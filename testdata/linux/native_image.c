/* A program with the section that GraalVM's native images keep their first objects in; it waits to be looked at. */
#include <stdio.h>
#include <unistd.h>

__attribute__((section(".svm_heap"), used)) static char heap[1 << 16] = {1};

int main(void) {
    for (unsigned at = 0; at < sizeof heap; at += 4096)
        heap[at] = 1;
    puts("ready");
    fflush(stdout);
    return (int)read(0, heap, 1);
}
