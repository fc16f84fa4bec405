/* The architectures that the plug-in knows. */
#include "arch.h"
#include <string.h>

const struct arch *arch_of(const char *name) {
    static const struct arch *const ALL[] = {&arch_x86_64, &arch_aarch64};
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        if (strcmp(ALL[i]->name, name) == 0) return ALL[i];
    return NULL;
}
