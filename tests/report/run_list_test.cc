#include "tra/report/run_list.h"

#include <gtest/gtest.h>

#include "tests/report/runs.h"

namespace tra {
namespace {

RunResults InFolder(RunResults run, const std::string& folder) {
  run.file = "results/" + folder + "/results.json";
  return run;
}

TEST(RunList, HasALineForEachRunInAFixedOrder) {
  const std::vector<RunResults> runs = {
      InFolder(RunOf("flipflop", "tra", 2, {Em("iid", 1), Em("sparse", 1)}, "heads=4, lr=0.001"), "b"),
      InFolder(RunOf("flipflop", "tra", 1, {Em("iid", 1), Em("sparse", 0.875)}, "heads=4, lr=0.001"), "a"),
      InFolder(RunOf("flipflop", "rope", 1, {Em("iid", 0.5)}), "c"),
      InFolder(RunOf("text", "tra", 1, {Perplexity(128, 30.25), Perplexity(128, 99, "ppl_word")}), "d")};
  EXPECT_EQ(RunListCsv(runs),
            "task,attention,label,seed,step,solved,iid,sparse,test window 128,run\n"
            "flipflop,rope,,1,2000,0,50,,,c\n"
            "flipflop,tra,\"heads=4, lr=0.001\",1,2000,0,100,87.5,,a\n"
            "flipflop,tra,\"heads=4, lr=0.001\",2,2000,1,100,100,,b\n"
            "text,tra,,1,2000,,,,30.25,d\n");
}

}  // namespace
}  // namespace tra
