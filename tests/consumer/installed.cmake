# Installs everything, moves the prefix elsewhere, and runs the program and the Python package from there, with nothing of
# the build in reach.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${TRA_BUILD} --prefix ${WORK}/before)
file(RENAME ${WORK}/before ${WORK}/moved)
file(MAKE_DIRECTORY ${WORK}/elsewhere)
set(prefix ${WORK}/moved)

# A runpath into the build would hide that the moved library is not found.
execute_process(COMMAND readelf -d ${prefix}/bin/tra OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(FIND "${dynamic}" "${TRA_BUILD}" found)
if(NOT found EQUAL -1)
  message(FATAL_ERROR "the installed program looks for libraries in the build: ${dynamic}")
endif()

execute_process(COMMAND ${prefix}/bin/tra train ${prefix}/share/tra/configs/small/flipflop.toml --run ${WORK}/elsewhere/run
  --set model.width=16 --set data.lengths=[8,8] --set train.steps=2 --set train.eval_every=0 --set eval.examples=2 --threads 1
  WORKING_DIRECTORY ${WORK}/elsewhere COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
foreach(file share/doc/tra/README.md share/doc/tra/training.md share/man/man1/tra.1 share/zsh/site-functions/_tra
             share/bash-completion/completions/tra share/fish/vendor_completions.d/tra.fish)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} is not installed")
  endif()
endforeach()
run(bash -n ${prefix}/share/bash-completion/completions/tra)
if(PYTHON)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=TRA_OPS_LIBRARY PYTHONPATH=${prefix}/lib/python3/dist-packages
    ${PYTHON} -c "import torch, tra; print(tra.__file__); q = torch.randn(1, 1, 4, 8); tra.attention(q, q, q, torch.zeros(1, 1, 4) - 1)"
    WORKING_DIRECTORY ${WORK}/elsewhere COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endif()
