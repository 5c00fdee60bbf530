# The Python package `talus`: its modules in python/talus of the build folder, with the extension on the stable ABI beside them when the
# headers of a Python from 3.11 on are there. `make install` puts it where the interpreter of that prefix looks.
find_package(Python3 3.11 COMPONENTS Interpreter Development.Module QUIET)
file(GLOB TALUS_PACKAGE CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/python/talus/*.py ${CMAKE_SOURCE_DIR}/python/talus/*.pyi
     ${CMAKE_SOURCE_DIR}/python/talus/py.typed)
foreach(module ${TALUS_PACKAGE})
  configure_file(${module} ${CMAKE_BINARY_DIR}/${module} COPYONLY)
endforeach()
if(NOT Python3_Development.Module_FOUND)
  message(STATUS "Python's headers (python3-dev) are missing: the Python package 'talus' is not built")
  return()
endif()

add_library(talus_python MODULE ${CMAKE_SOURCE_DIR}/python/talus/_talus.c)
target_compile_definitions(talus_python PRIVATE Py_LIMITED_API=0x030b0000)
target_include_directories(talus_python PRIVATE ${CMAKE_SOURCE_DIR}/include)
target_include_directories(talus_python SYSTEM PRIVATE ${Python3_INCLUDE_DIRS})
target_link_libraries(talus_python PRIVATE talus_flags talus_shared)
set_target_properties(talus_python PROPERTIES PREFIX "" OUTPUT_NAME _talus SUFFIX .abi3.so LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/python/talus)

# Debian's own prefix has one folder for all versions, others have one for each.
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(folder lib/python3/dist-packages)
else()
  set(folder lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/dist-packages)
endif()
set(TALUS_PYTHON_DIR ${folder} CACHE STRING "where the Python package goes, below the prefix")
file(RELATIVE_PATH up /${TALUS_PYTHON_DIR}/talus /${CMAKE_INSTALL_LIBDIR})
set_target_properties(talus_python PROPERTIES INSTALL_RPATH "$ORIGIN/${up}")
install(TARGETS talus_python LIBRARY DESTINATION ${TALUS_PYTHON_DIR}/talus COMPONENT python)
install(FILES ${TALUS_PACKAGE} DESTINATION ${TALUS_PYTHON_DIR}/talus COMPONENT python)
add_dependencies(python_package talus_python)
target_compile_definitions(talus PRIVATE TALUS_HAS_PYTHON=1)  # for `talus doctor`
