#include "tra/cli/completion_scripts.h"

#include <algorithm>
#include <vector>

namespace tra::cli {
namespace {

std::string Joined(const std::vector<std::string>& words, const std::string& separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
  std::string result;
  size_t at = 0;
  for (size_t found = text.find(from); found != std::string::npos; found = text.find(from, at)) {
    result += text.substr(at, found - at) + to;
    at = found + from.size();
  }
  return result + text.substr(at);
}

// Quotes a text for bash and zsh.
std::string Quoted(const std::string& text) { return "'" + Replaced(text, "'", "'\\''") + "'"; }

const OptionInfo* Positional(const CommandInfo& command) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [](const OptionInfo& option) { return option.positional; });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> CommandNames(const CommandInfo& command) {
  std::vector<std::string> names;
  for (const CommandInfo& each : command.commands) names.push_back(each.name.substr(command.name.size() + 1));
  return names;
}

// Returns a pattern for `case` that matches the name of every command but `tra` itself.
std::string CommandPattern(const CommandInfo& tra) {
  std::string pattern;
  for (const CommandInfo* each : AllCommands(tra)) {
    if (each != &tra) pattern += (pattern.empty() ? "\"" : " | \"") + each->name + "\"";
  }
  return pattern;
}

// Returns what completes a value in bash: a list of words, or paths.
std::string BashValues(const OptionInfo& option) {
  if (option.kind == ValueKind::kPath) return "paths=1";
  return "words=" + Quoted(Joined(option.values, " "));
}

// Returns a specification of zsh's _arguments.
std::string ZshArgument(const OptionInfo& option) {
  const auto escaped = [](std::string text) {
    for (const char* each : {"\\", "[", "]", ":"}) text = Replaced(text, each, std::string("\\") + each);
    return text;
  };
  std::string value;
  if (option.kind != ValueKind::kNothing) {
    value = ":" + escaped(option.positional ? option.names[0] : "value") + ":";
    if (option.kind == ValueKind::kListed) value += "(" + Joined(option.values, " ") + ")";
    if (option.kind == ValueKind::kPath) value += "_files";
  }
  if (option.positional) return "    " + Quoted((option.repeats ? "*" : "") + value) + " \\\n";
  std::string arguments;
  for (const std::string& name : option.names) {
    std::string what = name;
    what.append("[").append(escaped(option.description)).append("]").append(value);
    arguments += "    " + Quoted((option.repeats ? "*" : "") + what) + " \\\n";
  }
  return arguments;
}

// Quotes a text for fish, in whose quotes a backslash counts.
std::string FishQuoted(const std::string& text) {
  return "'" + Replaced(Replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

}  // namespace

std::string BashCompletion(const CommandInfo& tra) {
  std::string script = "# bash completion of tra, as `tra completion bash` writes it\n_tra() {\n";
  script += R"(  local typed="${COMP_LINE:0:COMP_POINT}" command=tra words= paths= before word current
  # Not COMP_WORDS, which bash divides at = and : too.
  current="${typed##* }"
  local -a all
  read -ra all <<<"${typed:0:${#typed}-${#current}}"
  before="${all[-1]}"
  if [[ $current == --*=* ]]; then
    before="${current%%=*}"
    current="${current#*=}"
  fi
  for word in "${all[@]:1}"; do
    case "$command $word" in
)";
  script +=
      "      " + CommandPattern(tra) + ") command+=\" $word\" ;;\n    esac\n  done\n  case \"$command $before\" in\n";
  for (const CommandInfo* command : AllCommands(tra)) {
    for (const OptionInfo& option : command->options) {
      if (option.positional || option.kind == ValueKind::kNothing) continue;
      std::string pattern;
      for (const std::string& name : option.names) {
        pattern += (pattern.empty() ? "\"" : " | \"") + command->name + " " + name + "\"";
      }
      script += "    " + pattern + ") " + BashValues(option) + " ;;\n";
    }
  }
  script += "    *)\n      case \"$command\" in\n";
  for (const CommandInfo* command : AllCommands(tra)) {
    std::vector<std::string> options;
    for (const OptionInfo& option : command->options) {
      if (!option.positional) options.insert(options.end(), option.names.begin(), option.names.end());
    }
    const OptionInfo* positional = Positional(*command);
    std::string rest = "words=" + Quoted(Joined(CommandNames(*command), " "));
    if (command->commands.empty()) rest = positional == nullptr ? ":" : BashValues(*positional);
    script += "        \"" + command->name +
              "\")\n          if [[ $current == -* ]]; then words=" + Quoted(Joined(options, " ")) + "; else " + rest +
              "; fi\n          ;;\n";
  }
  script += R"(      esac
      ;;
  esac
  if [[ -n $paths ]]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  # bash replaces only what follows the last = or : of the word.
  COMPREPLY=("${COMPREPLY[@]#"${current%"${current##*[=:]}"}"}")
}
complete -F _tra tra
)";
  return script;
}

std::string ZshCompletion(const CommandInfo& tra) {
  std::string script = "#compdef tra\n# zsh completion of tra, as `tra completion zsh` writes it\n_tra() {\n";
  script += R"(  local command=tra word
  local -i depth=0
  for word in "${(@)words[2,CURRENT-1]}"; do
    case "$command $word" in
)";
  script += "      (" + Replaced(CommandPattern(tra), " | ", "|") +
            ") command+=\" $word\"; (( depth += 1 )) ;;\n    esac\n  done\n";
  script += R"(  words=("${(@)words[depth+1,-1]}")
  (( CURRENT -= depth ))
  local -a commands
  case "$command" in
)";
  for (const CommandInfo* command : AllCommands(tra)) {
    script += "  (\"" + command->name + "\")\n";
    if (!command->commands.empty()) {
      script += "    commands=(\n";
      for (const CommandInfo& each : command->commands) {
        const std::string name = each.name.substr(command->name.size() + 1);
        script += "      " + Quoted(name + ":" + Replaced(each.description, ":", "\\:")) + "\n";
      }
      script += "    )\n    if [[ ${words[CURRENT]} != -* ]]; then _describe command commands; return; fi\n";
    }
    script += "    _arguments -s \\\n";
    for (const OptionInfo& option : command->options) script += ZshArgument(option);
    script += "      && return\n    ;;\n";
  }
  script += "  esac\n}\nif [[ ${funcstack[1]} == _tra ]]; then _tra \"$@\"; else compdef _tra tra; fi\n";
  return script;
}

std::string FishCompletion(const CommandInfo& tra) {
  std::string script = "# fish completion of tra, as `tra completion fish` writes it\n";
  script += R"(function __tra_command_is
    set -l command tra
    for word in (commandline -opc)[2..-1]
        switch "$command $word"
)";
  script += "            case " + Replaced(CommandPattern(tra), " | ", " ");
  script += R"(
                set command "$command $word"
        end
    end
    test "$command" = "$argv[1]"
end
complete -c tra -f
)";
  for (const CommandInfo* command : AllCommands(tra)) {
    const std::string begin = "complete -c tra -n " + FishQuoted("__tra_command_is \"" + command->name + "\"");
    for (const CommandInfo& each : command->commands) {
      script +=
          begin + " -a " + each.name.substr(command->name.size() + 1) + " -d " + FishQuoted(each.description) + "\n";
    }
    for (const OptionInfo& option : command->options) {
      std::string line = begin;
      for (const std::string& name : option.names) {
        if (!option.positional) line += name.rfind("--", 0) == 0 ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (option.kind == ValueKind::kPath) line += option.positional ? " -F" : " -r -F";
      if (option.kind == ValueKind::kOther && !option.positional) line += " -x";
      if (option.kind == ValueKind::kListed) {
        line += (option.positional ? " -a " : " -x -a ") + FishQuoted(Joined(option.values, " "));
      }
      script += line + " -d " + FishQuoted(option.description) + "\n";
    }
  }
  return script;
}

}  // namespace tra::cli
