# talus-mpi, which deals the rows of a sweep to the ranks of MPI. In a program of its own, so that talus maps no MPI.
pkg_check_modules(TALUS_MPI_LIBRARY QUIET IMPORTED_TARGET ompi-c)
if(NOT TALUS_MPI_LIBRARY_FOUND)
  message(STATUS "no OpenMPI (libopenmpi-dev): sweeps run on one machine (talus-mpi is not built)")
  return()
endif()
add_executable(talus-mpi ${CMAKE_SOURCE_DIR}/mpi/talus-mpi.c)
target_link_libraries(talus-mpi PRIVATE talus_flags PkgConfig::TALUS_MPI_LIBRARY)
install(TARGETS talus-mpi RUNTIME DESTINATION lib/talus COMPONENT program)
