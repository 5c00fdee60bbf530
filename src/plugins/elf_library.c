// What kind of file a plugin's library is, told before the loader sees it: its own words name neither machine nor
// reason.
#include "plugins/plugins_internal.h"

#include "base/file.h"

#include <string.h>

#if defined __x86_64__
enum { OWN_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#elif defined __riscv
enum { OWN_MACHINE = EM_RISCV };
#else
enum { OWN_MACHINE = EM_NONE };  // any machine will do
#endif

static const struct {
    int number;
    const char *name;
} machines[] = {
    { EM_X86_64, "x86-64" },        { EM_386, "x86 with 32 bits" }, { EM_AARCH64, "ARM with 64 bits" },
    { EM_ARM, "ARM with 32 bits" }, { EM_RISCV, "RISC-V" },         { EM_PPC64, "PowerPC" },
};

static const char *machine_name(int number)
{
    for (int i = 0; i < COUNT_OF(machines); i++)
        if (machines[i].number == number)
            return machines[i].name;
    return "another machine";
}

static const char *problem_of(FILE *file, Arena *arena)
{
    static const uint8_t windows[] = { 'M', 'Z' }, macos[] = { 0xcf, 0xfa, 0xed, 0xfe },
                         macos_fat[] = { 0xca, 0xfe, 0xba, 0xbe };
    ElfW(Ehdr) head = { 0 };
    size_t length = fread(&head, 1, sizeof head, file);
    if (length == 0)
        return "is empty";
    if (!memcmp(&head, windows, sizeof windows))
        return "is a library for Windows";
    if (!memcmp(&head, macos, sizeof macos) || !memcmp(&head, macos_fat, sizeof macos_fat))
        return "is a library for macOS";
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || length < EI_NIDENT + 4)
        return "is no library at all";
    // Type and machine lie at the same place in files of either word size.
    if (OWN_MACHINE != EM_NONE && head.e_machine != OWN_MACHINE)
        return arena_printf(arena, "is built for %s, and this machine is %s", machine_name(head.e_machine),
                            machine_name(OWN_MACHINE));
    if (head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
        return arena_printf(arena, "is built for %s bits", head.e_ident[EI_CLASS] == ELFCLASS32 ? "32" : "other");
    if (head.e_type != ET_DYN)
        return "is no shared library: link it with -shared";
    if (length < sizeof head || head.e_phentsize != sizeof(ElfW(Phdr)) || fseek(file, 0, SEEK_END))
        return "is cut off: a part of the file is missing";
    return library_layout_problem(file, &head, ftell(file));
}

const char *library_problem(const char *path, Arena *arena)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return "cannot be opened";
    const char *problem = problem_of(file, arena);
    fclose(file);
    return problem;
}

const char *library_plain_name(const char *name, Arena *arena)
{
    static const char *const endings[] = { ".so", ".dll", ".dylib" };
    const char *start = name;
    for (const char *c = name; *c; c++)
        if ((*c == '/' || *c == '\\') && c[1])
            start = c + 1;
    size_t length = strlen(start);
    for (int i = 0; i < COUNT_OF(endings); i++)
        if (length > strlen(endings[i]) && text_ends_with(start, endings[i])) {
            length -= strlen(endings[i]);
            if (length > 3 && !strncmp(start, "lib", 3))
                start += 3, length -= 3;
            break;
        }
    return arena_text(arena, start, length);
}
