// The kinds of examples, each in a file of its name; copy.cc has InductKind too.
#ifndef TRA_TASKS_KINDS_H_
#define TRA_TASKS_KINDS_H_

#include "tra/tasks/task.h"

namespace tra {

Kind FlipflopKind();
Kind CopyKind();    // symbols may repeat
Kind InductKind();  // like copy, but all symbols differ
Kind InductQueryKind();
Kind FlipflopPlusKind();

}  // namespace tra

#endif  // TRA_TASKS_KINDS_H_
