# `make install`: program, library, headers, PROTO library, CMake package config, pkg-config, man page, bash completion.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS talus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The launcher of <extern> controllers under the name that Webots gives it; in the build folder too.
file(CREATE_LINK talus ${CMAKE_BINARY_DIR}/webots-controller SYMBOLIC)
install(FILES ${CMAKE_BINARY_DIR}/webots-controller DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS talus_shared EXPORT talus LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus-api FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/talus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
# What controllers are compiled against and find at run time: see src/control/launch.c.
install(TARGETS Controller LIBRARY DESTINATION lib/talus)
install(FILES ${CMAKE_BINARY_DIR}/libdriver.so ${CMAKE_BINARY_DIR}/libcar.so DESTINATION lib/talus)
install(DIRECTORY ${CMAKE_BINARY_DIR}/python DESTINATION lib/talus
        FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
if(TARGET CppController)
  install(TARGETS CppController LIBRARY DESTINATION lib/talus)
  install(FILES ${CMAKE_BINARY_DIR}/libCppDriver.so ${CMAKE_BINARY_DIR}/libCppCar.so DESTINATION lib/talus)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/include/webots DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/talus-api FILES_MATCHING PATTERN "*.hpp")
endif()
install(DIRECTORY library DESTINATION ${CMAKE_INSTALL_DATADIR}/talus OPTIONAL)
install(DIRECTORY resources projects DESTINATION ${CMAKE_INSTALL_DATADIR}/talus)
# share/talus is laid out as Webots lays its own folder out, for what names $(WEBOTS_HOME)/include/controller or lib/controller.
file(RELATIVE_PATH TALUS_HOME_UP /${CMAKE_INSTALL_DATADIR}/talus /)
install(CODE "
  set(home \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/talus\")
  file(MAKE_DIRECTORY \"\${home}/include/controller\" \"\${home}/lib\")
  foreach(language c cpp)
    file(CREATE_LINK \"../../${TALUS_HOME_UP}${CMAKE_INSTALL_INCLUDEDIR}/talus-api\" \"\${home}/include/controller/\${language}\" SYMBOLIC)
  endforeach()
  file(CREATE_LINK \"../${TALUS_HOME_UP}lib/talus\" \"\${home}/lib/controller\" SYMBOLIC)")
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md")
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

configure_package_config_file(cmake/talus-config.cmake.in ${CMAKE_BINARY_DIR}/talus-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/talus-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/talus-config.cmake ${CMAKE_BINARY_DIR}/talus-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)
install(EXPORT talus NAMESPACE talus:: FILE talus-targets.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/talus)

# The .pc file finds its prefix from where it lies, so that a tree can be moved.
file(RELATIVE_PATH TALUS_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/talus.pc.in ${CMAKE_BINARY_DIR}/talus.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/talus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The manual page and the completion are made by the program from the rows of its verbs.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/talus.1 ${CMAKE_BINARY_DIR}/talus.bash
  COMMAND talus manual > ${CMAKE_BINARY_DIR}/talus.1
  COMMAND talus manual --completion > ${CMAKE_BINARY_DIR}/talus.bash
  DEPENDS talus VERBATIM)
add_custom_target(talus_manual ALL DEPENDS ${CMAKE_BINARY_DIR}/talus.1 ${CMAKE_BINARY_DIR}/talus.bash)
install(FILES ${CMAKE_BINARY_DIR}/talus.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/talus.bash RENAME talus DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
