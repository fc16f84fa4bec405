/* An agent of a JVM (-agentpath:lists.so=COUNT) that holds two lists of 1000-byte blocks: only its own variables lead to
   them, and each block to the next by its first or its second word. */
#include <stdlib.h>
#include <string.h>

static void **volatile by_first, **volatile by_second;

int Agent_OnLoad(void *vm, char *count, void *reserved) {
  (void)vm, (void)reserved;
  for (long i = count ? atol(count) : 0; 0 < i; i--) {
    void **first = malloc(1000), **second = malloc(1000);
    if (!first || !second) return 1;
    memset(first, 0x5a, 1000), memset(second, 0x5a, 1000);
    first[0] = by_first, by_first = first;
    second[1] = by_second, by_second = second;
  }
  return 0;
}
