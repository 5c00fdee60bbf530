# `make install`: program, library, headers, PROTO library, CMake package config, pkg-config, man page, completions. Its components
# are the Debian packages of `make package`: program (talus), library (libtalus0), dev (libtalus-dev), python (python3-talus).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS talus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
# The launcher of <extern> controllers under the name that Webots gives it; in the build folder too.
file(CREATE_LINK talus ${CMAKE_BINARY_DIR}/webots-controller SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/webots-controller DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS talus_shared EXPORT talus
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus-api COMPONENT program FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/talus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.h")
# What controllers are compiled against and find at run time: see src/control/launch.c.
install(TARGETS Controller LIBRARY DESTINATION lib/talus COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/libdriver.so ${CMAKE_BINARY_DIR}/libcar.so DESTINATION lib/talus COMPONENT program)
install(DIRECTORY ${CMAKE_BINARY_DIR}/python DESTINATION lib/talus COMPONENT program
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE PATTERN "python/talus" EXCLUDE)
include(TalusPython)
if(TARGET CppController)
  install(TARGETS CppController LIBRARY DESTINATION lib/talus COMPONENT program)
  install(FILES ${CMAKE_BINARY_DIR}/libCppDriver.so ${CMAKE_BINARY_DIR}/libCppCar.so DESTINATION lib/talus COMPONENT program)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/include/webots DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus-api COMPONENT program FILES_MATCHING PATTERN "*.hpp")
endif()
install(DIRECTORY library DESTINATION ${CMAKE_INSTALL_DATADIR}/talus COMPONENT library OPTIONAL)
install(DIRECTORY resources projects DESTINATION ${CMAKE_INSTALL_DATADIR}/talus COMPONENT program)
# share/talus is laid out as Webots lays its own folder out, for what names $(WEBOTS_HOME)/include/controller or lib/controller.
file(RELATIVE_PATH TALUS_HOME_UP /${CMAKE_INSTALL_DATADIR}/talus /)
install(CODE "
  set(home \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/talus\")
  file(MAKE_DIRECTORY \"\${home}/include/controller\" \"\${home}/lib\")
  foreach(language c cpp)
    file(CREATE_LINK \"../../${TALUS_HOME_UP}${CMAKE_INSTALL_INCLUDEDIR}/talus-api\" \"\${home}/include/controller/\${language}\" SYMBOLIC)
    list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/talus/include/controller/\${language}\")
  endforeach()
  file(CREATE_LINK \"../${TALUS_HOME_UP}lib/talus\" \"\${home}/lib/controller\" SYMBOLIC)
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/talus/lib/controller\")" COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN "*.gif" PATTERN "*.svg" PATTERN "*.webp")
# Sources alone: what was built in the examples stays here.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program FILES_MATCHING PATTERN "*.wbt" PATTERN "*.proto" PATTERN "*.[ch]"
        PATTERN "*.cpp" PATTERN "*.py" PATTERN "*.md" PATTERN "Makefile" PATTERN "runtime.ini" PATTERN "build" EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md SECURITY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

configure_package_config_file(cmake/talus-config.cmake.in ${CMAKE_BINARY_DIR}/talus-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/talus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/talus-config.cmake ${CMAKE_BINARY_DIR}/talus-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus COMPONENT dev)
install(EXPORT talus NAMESPACE talus:: FILE talus-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus COMPONENT dev)

# The .pc file finds its prefix from where it lies, so that a tree can be moved.
file(RELATIVE_PATH TALUS_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/talus.pc.in ${CMAKE_BINARY_DIR}/talus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/talus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

# The manual page and the completions are made by the program from the rows of its verbs.
set(TALUS_COMPLETIONS "")
foreach(shell bash zsh fish)
  list(APPEND TALUS_COMPLETIONS ${CMAKE_BINARY_DIR}/talus.${shell})
endforeach()
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/talus.1 ${TALUS_COMPLETIONS}
  COMMAND talus manual > ${CMAKE_BINARY_DIR}/talus.1
  COMMAND talus manual --completion bash > ${CMAKE_BINARY_DIR}/talus.bash
  COMMAND talus manual --completion zsh > ${CMAKE_BINARY_DIR}/talus.zsh
  COMMAND talus manual --completion fish > ${CMAKE_BINARY_DIR}/talus.fish
  DEPENDS talus VERBATIM)
add_custom_target(talus_manual ALL DEPENDS ${CMAKE_BINARY_DIR}/talus.1 ${TALUS_COMPLETIONS})
install(FILES ${CMAKE_BINARY_DIR}/talus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/talus.bash RENAME talus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/talus.zsh RENAME _talus DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES ${CMAKE_BINARY_DIR}/talus.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)

# All that `make install` and `make package` need, and nothing of the tests.
add_custom_target(installable DEPENDS program talus_shared talus_manual)
