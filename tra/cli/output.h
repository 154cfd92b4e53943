// Writes the output of a command.
#ifndef TRA_CLI_OUTPUT_H_
#define TRA_CLI_OUTPUT_H_

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "tra/base/atomic_file.h"

namespace tra::cli {

// Writes to a file that appears only when it is complete, or to standard output. Failures throw std::runtime_error.
class Output {
 public:
  explicit Output(const std::string& path);  // empty or -: standard output

  void Write(std::string_view bytes);
  void Line(std::string_view line) {
    Write(line);
    Write("\n");
  }
  void Flush();   // shows what was written so far
  void Finish();  // call it at the end: without it no file appears

 private:
  std::unique_ptr<AtomicFile> file_;
  std::string buffer_;
};

// Writes out what is left of standard output. Returns false if it, or what came before, cannot be written.
bool FlushStandardOutput();

// Makes a message fit for the terminal: strangers' strings are quoted in many.
std::string ShownMessage(const std::string& text);

// Writes a warning to standard error.
void PrintWarning(const std::string& text);

// Adds --color, for standard output: "auto", "always" or "never". It is a string, since help would print an enum's
// default as raw bytes.
void AddColorOption(CLI::App& command, std::string& color);
bool UseColor(std::string_view color);  // auto: on a terminal, unless NO_COLOR is set

}  // namespace tra::cli

#endif  // TRA_CLI_OUTPUT_H_
