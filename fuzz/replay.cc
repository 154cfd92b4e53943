// Gives every seed to its harness. Any build can do this, also without libFuzzer.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/harnesses.h"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  tra::fuzz::Require(argc == 2, "usage: replay SEEDS, where SEEDS has a folder for each harness");
  for (const tra::fuzz::Harness& harness : tra::fuzz::kHarnesses) {
    int seeds = 0;
    for (const auto& each : fs::directory_iterator(fs::path(argv[1]) / harness.name)) {
      std::ifstream file(each.path(), std::ios::binary);
      const std::string bytes(std::istreambuf_iterator<char>(file), {});
      std::printf("%s\n", each.path().c_str());
      std::fflush(stdout);  // names the seed that ends the process
      harness.run(bytes);
      ++seeds;
    }
    tra::fuzz::Require(seeds > 0, std::string(harness.name) + " has no seeds");
  }
  return 0;
}
