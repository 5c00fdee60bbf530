# libController: what robot programs link with. It stands alone: controller/, the protocol and a little of base/.
file(GLOB CONTROLLER_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/controller/*.c)
add_library(Controller SHARED ${CONTROLLER_SOURCES} src/protocol/protocol.c src/protocol/channel.c src/base/memory.c)
target_include_directories(Controller PUBLIC ${CMAKE_SOURCE_DIR}/include PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/controller)
target_link_libraries(Controller PRIVATE talus_flags Threads::Threads m)
target_link_options(Controller PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/exports/controller.map)
set_target_properties(Controller PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
# The Python module lies beside it: controllers find both where the program is.
file(GLOB_RECURSE CONTROLLER_PYTHON CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/python/*.py)
foreach(module ${CONTROLLER_PYTHON})
  configure_file(${module} ${CMAKE_BINARY_DIR}/${module} COPYONLY)
endforeach()
