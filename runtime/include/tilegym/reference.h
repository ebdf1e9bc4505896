/* SPDX-License-Identifier: MIT
 * The reference backend: calls run in the interpreter, on host memory, from the spec's own text in the package. For machines without
 * a GPU, and for finding out whether a result is the kernel's fault. Link TileGym::reference. */
#ifndef TILEGYM_REFERENCE_H
#define TILEGYM_REFERENCE_H
#include "tilegym/tilegym.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Makes the reference backend the process's (1), or `tile` again (0); returns whether it was the reference. While it is on, tilegym_call checks its
 * arguments as before, then runs the op's `reference` at once and ignores the stream; every tensor's data is host memory. No driver
 * is needed, and variants do not matter: what the op's interface takes, runs. */
int tilegym_use_reference(int on);

/* Makes the reference backend known to the dispatcher, which then takes TILEGYM_BACKEND_REFERENCE for a call, a thread or the process. The above does it, too. */
void tilegym_add_reference(void);

#ifdef __cplusplus
}
#endif
#endif
