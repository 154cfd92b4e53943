// Says where in an example an answer can be read.
#ifndef TRA_TASKS_EVIDENCE_H_
#define TRA_TASKS_EVIDENCE_H_

#include <cstddef>
#include <vector>

namespace tra {

// Names a query and a key that it looks at, by their positions.
struct Link {
  size_t query = 0, key = 0;

  bool operator==(const Link& other) const { return query == other.query && key == other.key; }
};

// Says which earlier tokens determine an answer. In every task the answer stands next to a mark that says that it is
// the one: a bit after its w, a symbol after the symbol asked for, a letter beside the trigger. Whichever of the two
// comes later can have seen the other, so it is the first token that can hold both, and the one to look at.
struct Evidence {
  size_t query = 0;          // the position whose prediction is the answer: that of the token before it
  std::vector<size_t> keys;  // the positions that the query has to look at
  std::vector<Link> links;   // what must have been looked at before, so that the keys hold answer and mark
};

}  // namespace tra

#endif  // TRA_TASKS_EVIDENCE_H_
