// tra man: prints the manual page, made of what the commands say about themselves.
#include <CLI/App.hpp>
#include <sstream>
#include <string>

#include "tra/cli/command_info.h"
#include "tra/cli/commands.h"
#include "tra/cli/output.h"
#include "tra/run/environment.h"

namespace tra::cli {
namespace {

// Writes a text so that roff shows it as it is.
std::string Roff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    const bool line_starts = result.empty() || result.back() == '\n';
    if (line_starts && (c == '.' || c == '\'')) result += "\\&";  // else it would be a request
    switch (c) {
      case '\\':
        result += "\\e";
        break;
      case '-':
        result += "\\-";
        break;
      case '\'':
        result += "\\(aq";
        break;
      case '"':
        result += "\\(dq";
        break;
      case '~':
        result += "\\(ti";
        break;
      case '^':
        result += "\\(ha";
        break;
      case '`':
        result += "\\(ga";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string Usage(const CommandInfo& command) {
  std::string usage = ".B " + Roff(command.name) + "\n";
  if (!command.commands.empty()) usage += ".I COMMAND\n";
  for (const OptionInfo& option : command.options) {
    if (option.positional) usage += ".I " + Roff(option.names[0] + (option.repeats ? " ..." : "")) + "\n";
  }
  return usage + "[OPTIONS]\n";
}

std::string About(const OptionInfo& option) {
  std::string about = ".TP\n";
  for (size_t i = 0; i < option.names.size(); ++i) {
    about += (i > 0 ? ", " : "") + ("\\fB" + Roff(option.names[i]) + "\\fR");
  }
  if (!option.positional && option.kind != ValueKind::kNothing) about += " \\fIVALUE\\fR";
  about += "\n" + Roff(option.description);
  // Settings are many; what completes them is not what they are.
  const bool settings = !option.values.empty() && option.values[0].find('=') != std::string::npos;
  if (option.kind == ValueKind::kListed && !settings) {
    about += "; one of";
    for (const std::string& value : option.values) about += (value == option.values[0] ? " " : ", ") + Roff(value);
  }
  if (!option.default_value.empty()) about += "; by default " + Roff(option.default_value);
  return about + "\n";
}

std::string About(const CommandInfo& command) {
  std::string about = ".SS " + Roff(command.name) + "\n" + Usage(command) + ".PP\n" + Roff(command.description) + ".\n";
  for (const OptionInfo& option : command.options) about += About(option);
  if (!command.footer.empty()) about += ".PP\n.nf\n" + Roff(command.footer) + "\n.fi\n";
  return about;
}

std::string ManualPage(const CommandInfo& tra) {
  std::string page = ".\\\" As `tra man` writes it.\n.TH TRA 1 \"\" \"tra " + Version() + "\" \"User Commands\"\n";
  page += ".SH NAME\ntra \\- train, score and look into models with Threshold Relative Attention\n";
  page += ".SH SYNOPSIS\n" + Usage(tra) + ".SH DESCRIPTION\n" + Roff(tra.description) + "\n";
  for (const OptionInfo& option : tra.options) page += About(option);
  page += ".SH COMMANDS\n";
  for (const CommandInfo* command : AllCommands(tra)) {
    if (command != &tra) page += About(*command);
  }
  page += ".SH EXIT STATUS\n";
  page += ".TP\n0\nAll went well.\n.TP\n1\nSomething failed.\n.TP\n2\nThe input is bad.\n";
  page += ".TP\n3\nStopped on request; the work can be continued.\n";
  return page;
}

}  // namespace

void AddMan(CLI::App& app) {
  CLI::App* command = app.add_subcommand("man", "Print the manual page of all commands");
  command->footer("Example: tra man | man -l -");
  command->callback([&app] {
    Output out("");
    out.Write(ManualPage(DescribeCommands(app)));
    out.Finish();
  });
}

}  // namespace tra::cli
