// The kinds of examples there are; a file each.
#ifndef TRA_TASKS_KINDS_H_
#define TRA_TASKS_KINDS_H_

#include "tra/tasks/task.h"

namespace tra {

Kind FlipflopKind();
Kind CopyKind();    // symbols may repeat
Kind InductKind();  // the same of different symbols
Kind InductQueryKind();
Kind FlipflopPlusKind();

}  // namespace tra

#endif  // TRA_TASKS_KINDS_H_
