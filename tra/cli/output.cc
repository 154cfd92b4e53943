#include "tra/cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include "tra/base/text.h"

namespace tra::cli {
namespace {

constexpr size_t kBuffer = 1 << 20;

void WriteStandardOutput(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw std::runtime_error("cannot write to standard output: " + std::generic_category().message(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

Output::Output(const std::string& path) {
  if (!path.empty() && path != "-") file_ = std::make_unique<AtomicFile>(path);
}

void Output::Write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffer) Flush();
}

void Output::Flush() {
  if (file_) {
    file_->Write(buffer_.data(), buffer_.size());
  } else {
    WriteStandardOutput(buffer_);
  }
  buffer_.clear();
}

void Output::Finish() {
  Flush();
  if (file_) file_->Commit();
}

bool FlushStandardOutput() {
  std::cout.flush();
  return std::cout.good() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

std::string ShownMessage(const std::string& text) { return WithoutControls(text, "\n"); }

void PrintWarning(const std::string& text) { std::cerr << "tra: " << ShownMessage(text) << "\n"; }

void AddColorOption(CLI::App& command, std::string& color) {
  command.add_option("--color", color, "auto: on a terminal, unless NO_COLOR is set")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
}

bool UseColor(std::string_view color) {
  if (color != "auto") return color == "always";
  const char* refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0');
}

}  // namespace tra::cli
