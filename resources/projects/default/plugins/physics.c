/* Plugins of old include this as "../physics.c". On other systems it bound the functions of the simulator; here the loader does. */
