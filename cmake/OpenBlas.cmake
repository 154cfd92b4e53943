include_guard(GLOBAL)
# Debian's OpenBLAS comes with threads of its own (pthread) or with OpenMP's, which are LibTorch's too. Two sets of threads
# on the same cores wait for each other: a mini step took 1.1 to 1.3 times as long. LibTorch asks for libblas.so.3,
# which asks for libopenblas.so.0; a program that has loaded the OpenMP flavour of it before gives LibTorch that one.
#
# tra_blas: cblas.h and OpenBLAS, the OpenMP flavour where it is installed.
add_library(tra_blas INTERFACE)
find_path(TRA_BLAS_INCLUDE cblas.h PATHS /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
find_library(TRA_BLAS_LIBRARY openblas PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-openmp NO_DEFAULT_PATH)
if(TRA_BLAS_INCLUDE AND TRA_BLAS_LIBRARY)
  target_include_directories(tra_blas SYSTEM INTERFACE ${TRA_BLAS_INCLUDE})
  target_link_libraries(tra_blas INTERFACE ${TRA_BLAS_LIBRARY})
else()
  message(WARNING "no OpenMP flavour of OpenBLAS (libopenblas-openmp-dev): training will be slow beside LibTorch's threads")
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(OpenBLAS REQUIRED IMPORTED_TARGET openblas)
  target_link_libraries(tra_blas INTERFACE PkgConfig::OpenBLAS)
endif()
