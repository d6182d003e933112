# Installing, and what a project that uses Signet needs to find it: a CMake package and a pkg-config file.
# Included after the rooms and the programs.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY SIGNET_ROOMS)
list(REMOVE_ITEM rooms signet_cli)

# All rooms by one name: signet::signet, in this tree and installed alike.
add_library(signet_all INTERFACE)
add_library(signet::signet ALIAS signet_all)
set_target_properties(signet_all PROPERTIES EXPORT_NAME signet)
target_link_libraries(signet_all INTERFACE ${rooms})

if(NOT SIGNET_INSTALL)
  return()
endif()

install(TARGETS ${rooms} signet_all EXPORT SignetTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT SignetTargets NAMESPACE signet:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)

# The public headers. Which are internal: ARCHITECTURE.md, "Rooms".
set(left_out)
if(NOT SIGNET_PROFILES)
  set(left_out REGEX "/token/profiles$" EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/signet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING REGEX "\\.h$"
  REGEX "/(asio|beast|boost|openssl)_[^/]*\\.h$" EXCLUDE
  REGEX "_(impl|internal)\\.h$|[/_]testing\\.h$" EXCLUDE
  REGEX "/(cli|testdata)$" EXCLUDE
  ${left_out})

set(SIGNET_COMPONENTS ${rooms})
list(TRANSFORM SIGNET_COMPONENTS REPLACE "^signet_" "")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/SignetConfig.cmake.in
  ${PROJECT_BINARY_DIR}/SignetConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/SignetConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/SignetConfig.cmake ${PROJECT_BINARY_DIR}/SignetConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Signet)

# Static libraries, users before what they use.
set(libraries ${rooms})
list(REVERSE libraries)
list(TRANSFORM libraries PREPEND "-l")
list(JOIN libraries " " SIGNET_PC_LIBRARIES)
file(RELATIVE_PATH SIGNET_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/signet.pc.in ${PROJECT_BINARY_DIR}/signet.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/signet.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(TARGET signet)
  install(TARGETS signet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
