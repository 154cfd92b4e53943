// Makes examples for a trainer, and tokens of a text, without LibTorch.
#include <tra/tasks/batch.h>
#include <tra/tasks/generated.h>
#include <tra/text/tokenizers.h>

#include <cstdio>

int main() {
  const tra::GeneratedExamples examples("copy", "train", /*seed=*/1);
  const tra::Batch batch = tra::MakeBatch(examples, /*first=*/0, /*count=*/128);
  for (const tra::FlatBatch& part : batch.parts) {
    std::printf("%zu sequences, %zu tokens\n", part.Sequences(), part.tokens.size());
  }
  const auto tokenizer = tra::MakeTokenizer("bytes");
  const std::string text = "any bytes \xff";
  const bool same = tokenizer->Decode(tokenizer->Encode(text)) == text;
  std::printf("%lld answers; the text comes back: %d\n", static_cast<long long>(batch.answers), same ? 1 : 0);
  return same && batch.answers > 0 ? 0 : 1;
}
