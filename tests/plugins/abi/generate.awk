# From `gcc -aux-info` lines to a plugin: one function for every prototype of ODE and plugins/*.h, each called in a world of its
# own. Input: special.txt, then the prototypes. What it cannot make arguments for goes to stderr and fails.
FNR == NR {
  if ($0 !~ /^#/ && NF > 1) { name = $1; sub(/^[^ ]+ /, ""); special[name] = $0; unused[name] = 1 }
  next
}
BEGIN {
  value["dWorldID"] = "world"; value["dJointGroupID"] = "group"; value["dReal"] = "0.5"; value["int"] = "1"; value["unsigned int"] = "1"
  value["long unsigned int"] = "1"; value["dsizeint"] = "1"; value["dReal *"] = "numbers"; value["const dReal *"] = "corners + 3"; value["int *"] = "whole"
  value["dMass *"] = "&mass"; value["const dMass *"] = "&mass"; value["void *"] = "numbers"; value["const void *"] = "numbers"
  value["const char *"] = "\"BOX\""; value["dFluidID"] = "fluid"; value["dImmersionLinkID"] = "link"; value["dImmersionLinkGroupID"] = "links"
  value["const dContact *"] = "&contact"; value["dContactGeom *"] = "&contact.geom"; value["dJointFeedback *"] = "&feedback"
  value["dStopwatch *"] = "&watch"; value["FILE *"] = "nowhere"; value["dJointID *"] = "joints"
  value["dImmersionGeom *"] = "&immersion.geom"; value["const dImmersion *"] = "&immersion"; value["dNearCallback (*)"] = "near_callback"
  value["dWorldSteppingThreadingParameters *"] = "(dWorldSteppingThreadingParameters *)whole"  # of ODE from 0.16.4 on
  value["const dWorldSteppingThreadingParameters *"] = value["dWorldSteppingThreadingParameters *"]
  kinds = "Hinge2 Hinge Ball Slider Universal PR PU Piston Fixed AMotor LMotor Plane2D Transmission DBall DHinge"
  split(kinds, kind, " ")
}
function joint_for(name,    i) {
  for (i = 1; i in kind; i++)
    if (name ~ "^dJoint(Set|Get|Add)?" kind[i] "([A-Z]|$)")
      return "between(dJointCreate" kind[i] "(world, 0))"
  return "between(dJointCreateHinge(world, 0))"
}
function geom_for(name) {
  if (name ~ /Sphere/) return "sphere"
  if (name ~ /Plane/ && name !~ /Immersion/) return "plane"
  if (name ~ /Capsule/) return "capsule"
  if (name ~ /Cylinder/) return "cylinder"
  if (name ~ /Ray/ && name !~ /TriMesh/) return "ray"
  if (name ~ /Tri[Mm]esh/) return "mesh"
  if (name ~ /Convex/) return "convex"
  if (name ~ /Heightfield/) return "field"
  if (name ~ /Transform/) return "wrapper"
  return "box"
}
function call_of(name, parameters,    n, i, type, list, text, bodies, geoms) {
  if (parameters == "void")
    return name "()"
  n = split(parameters, list, ", ")
  for (i = 1; i <= n; i++) {
    type = list[i]
    if (type in value) type = value[type]
    else if (type == "dBodyID") type = bodies++ ? "other" : "body"
    else if (type == "dSpaceID") type = name ~ /^dHashSpace(Set|Get)/ ? "hash_space" : "space"
    else if (type == "dGeomID") type = geoms++ ? "sphere" : geom_for(name)
    else if (type == "dJointID") type = joint_for(name)
    else if (type == "dTriMeshDataID") type = "triangles"
    else if (type == "dHeightfieldDataID") type = "heights"
    else if (type ~ /\(\*\)/) type = "0"
    else { print name ": no argument of type '" type "'" > "/dev/stderr"; failed = 1; type = "0" }
    text = text (i > 1 ? ", " : "") type
  }
  return name "(" text ")"
}
/:NC \*\/ extern / && /\/(ode|plugins)\/[a-z_\/]+\.h:/ {
  if (!match($0, /d[A-Z][A-Za-z0-9_]* \([^*]/))
    next
  gives_pointer = substr($0, RSTART - 2, 2) == "(*"
  name = substr($0, RSTART); parameters = name
  sub(/ \(.*/, "", name)
  sub(/^[^(]*\(/, "", parameters); sub(gives_pointer ? "\\)\\);.*$" : "\\);.*$", "", parameters)
  if (name in seen)
    next
  seen[name] = ++count
  order[count] = name
  if (name in special) {
    delete unused[name]
    next
  }
  for (row in unused)
    if (row ~ /\*$/ && index(name, substr(row, 1, length(row) - 1)) == 1) {
      special[name] = special[row]
      used[row] = 1
      next
    }
  special[name] = call_of(name, parameters)
}
END {
  print "#include \"objects.c\""
  for (i = 1; i <= count; i++)
    if (special[order[i]] ~ /^- /) { print "static void *volatile link_" i " = (void *)" order[i] ";"; linked++ }
    else print "static void call_" i "(void) { make(); " special[order[i]] "; clear(); }"
  print "static const struct { const char *name; void (*call)(void); } calls[] = {"
  for (i = 1; i <= count; i++)
    if (special[order[i]] !~ /^- /) print "  { \"" order[i] "\", call_" i " },"
  print "};\nstatic const char *now = \"\";"
  print "DLLEXPORT void webots_physics_init(void)\n{\n  make_data();"
  print "  for (unsigned i = 0; i < sizeof calls / sizeof calls[0]; i++) {\n    now = calls[i].name;\n    fprintf(stderr, \"%s\\n\", now);\n    calls[i].call();\n  }"
  print "  dWebotsConsolePrintf(\"called %d, linked %d\", (int)(sizeof calls / sizeof calls[0]), " linked + 0 ");\n}"
  print "DLLEXPORT void webots_physics_step(void) { }\nDLLEXPORT void webots_physics_cleanup(void) { }"
  if (count < 700) { print "only " count " functions were found in the headers" > "/dev/stderr"; failed = 1 }
  for (name in unused) if (!(name in used)) { print name " of special.txt is in no header" > "/dev/stderr"; failed = 1 }
  exit failed
}
