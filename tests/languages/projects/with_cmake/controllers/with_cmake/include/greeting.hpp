inline const char *greeting() { return "hello"; }
