# talus-template, which evaluates PROTO templates: JavaScriptCore and Lua are linked into it alone, so that neither `talus` nor a
# program with libtalus maps them.
include(TalusEmbed)
file(GLOB TALUS_TEMPLATE_MODULES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/template/modules/*)
talus_embed(${CMAKE_BINARY_DIR}/generated/template_modules.c engine.h template_modules template_module_count ${TALUS_TEMPLATE_MODULES})
file(GLOB TALUS_TEMPLATE_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/template/*.c)
add_executable(talus-template ${TALUS_TEMPLATE_SOURCES} ${CMAKE_BINARY_DIR}/generated/template_modules.c src/formats/template/template_wire.c
  src/base/worker.c src/base/memory.c src/base/arena.c src/base/text.c src/base/decimal.c)
target_include_directories(talus-template PRIVATE ${CMAKE_SOURCE_DIR}/template ${CMAKE_SOURCE_DIR}/src)
target_link_libraries(talus-template PRIVATE talus_flags PkgConfig::LUA PkgConfig::JSC Threads::Threads m)
install(TARGETS talus-template RUNTIME DESTINATION lib/talus COMPONENT library)
