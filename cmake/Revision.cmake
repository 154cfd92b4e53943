# Writes the revision that is being built to OUT, if it has changed. Runs at every build, because a commit does not make
# CMake configure again.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE revision
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(revision "unknown")  # no git here, or no repository
endif()
set(text "#ifndef TRA_RUN_REVISION_H_\n#define TRA_RUN_REVISION_H_\n\nnamespace tra {\n\
constexpr char kRevision[] = \"${revision}\";\n}\n\n#endif\n")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL before)
  file(WRITE ${OUT} "${text}")
endif()
