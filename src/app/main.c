// main.c - the program `talus`: finds the verb and hands over. Every verb is a file of this folder.
#include "talus/talus.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    printf("talus %s\n", talus_version());
    return 0;
}
