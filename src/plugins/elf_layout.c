// Whether the tables by which a library is loaded fit together. The loader trusts them: with some it ends the process,
// with others it lays parts of the file over what is loaded already, and neither can be reported afterwards.
#include "plugins/plugins_internal.h"

enum { PARTS_MAX = 64, ENTRIES_MAX = 512, PAGE = 4096 };

#if defined __x86_64__
enum { RELATIVE = R_X86_64_RELATIVE };
#elif defined __aarch64__
enum { RELATIVE = R_AARCH64_RELATIVE };
#else
enum { RELATIVE = -1 };  // not looked at
#endif

typedef struct Layout {
    FILE *file;
    ElfW(Off) size;
    ElfW(Phdr) parts[PARTS_MAX];
    int part_count;
    const ElfW(Phdr) * dynamic;      // NULL
    ElfW(Xword) values[DT_NUM + 1];  // by tag; the last one is DT_RELACOUNT
} Layout;

static bool read_at(const Layout *layout, ElfW(Off) offset, void *data, size_t size)
{
    return offset <= layout->size && size <= layout->size - offset && !fseek(layout->file, (long)offset, SEEK_SET)
           && fread(data, 1, size, layout->file) == size;
}

static bool is_loaded_part(const ElfW(Phdr) * part) { return part->p_type == PT_LOAD; }

// Where a table lies in the file; false when it is not all in one part.
static bool find_table(const Layout *layout, ElfW(Addr) address, ElfW(Xword) size, ElfW(Off) * offset)
{
    assert(layout->part_count >= 0 && layout->part_count <= PARTS_MAX);
    for (int i = 0; i < layout->part_count; i++) {
        const ElfW(Phdr) *part = &layout->parts[i];
        if (!is_loaded_part(part) || address < part->p_vaddr || address - part->p_vaddr > part->p_filesz)
            continue;
        ElfW(Off) within = address - part->p_vaddr;
        *offset = part->p_offset + within;
        return size <= part->p_filesz - within;
    }
    return false;
}

static const char *parts_problem(Layout *layout)
{
    assert_debug(layout->part_count <= PARTS_MAX);
    ElfW(Addr) end = 0;
    for (int i = 0; i < layout->part_count; i++) {
        const ElfW(Phdr) *part = &layout->parts[i];
        if (part->p_type == PT_DYNAMIC)
            layout->dynamic = part;
        if (!is_loaded_part(part))
            continue;
        if (part->p_offset > layout->size || part->p_filesz > layout->size - part->p_offset)
            return "is cut off: a part of the file is missing";
        if (part->p_filesz > part->p_memsz || part->p_vaddr < end || part->p_vaddr + part->p_memsz < part->p_vaddr
            || (part->p_vaddr - part->p_offset) % PAGE)
            return "is damaged: its parts do not fit together";
        end = part->p_vaddr + part->p_memsz;
    }
    return end == 0 ? "is damaged: nothing in it can be loaded" : NULL;
}

static const char *read_dynamic(Layout *layout)
{
    static const char problem[] = "is damaged: its table for the loader is not where it should be";
    ElfW(Off) offset;
    const ElfW(Phdr) *part = layout->dynamic;
    if (!part || !find_table(layout, part->p_vaddr, part->p_filesz, &offset))
        return problem;
    for (ElfW(Xword) i = 0; i < ENTRIES_MAX && (i + 1) * sizeof(ElfW(Dyn)) <= part->p_filesz; i++) {
        ElfW(Dyn) entry;
        if (!read_at(layout, offset + i * sizeof entry, &entry, sizeof entry))
            return problem;
        if (entry.d_tag == DT_NULL)
            return NULL;
        if (entry.d_tag > 0 && entry.d_tag < DT_NUM)
            layout->values[entry.d_tag] = entry.d_un.d_val;
        else if (entry.d_tag == DT_RELACOUNT)
            layout->values[DT_NUM] = entry.d_un.d_val;
    }
    return problem;
}

// The first ones of the table are said to be of one kind, which the loader relies on.
static bool relocations_are_sound(const Layout *layout)
{
    assert_debug(layout->dynamic);
    ElfW(Xword) size = layout->values[DT_RELASZ], count = layout->values[DT_NUM];
    ElfW(Off) offset;
    if (!find_table(layout, layout->values[DT_RELA], size, &offset) || count > size / sizeof(ElfW(Rela)))
        return false;
    for (ElfW(Xword) i = 0; RELATIVE >= 0 && i < count; i++) {
        ElfW(Rela) entry;
        if (!read_at(layout, offset + i * sizeof entry, &entry, sizeof entry)
            || (int)(entry.r_info & 0xffffffff) != RELATIVE)
            return false;
    }
    return true;
}

static const char *tables_problem(const Layout *layout)
{
    const ElfW(Xword) *values = layout->values;
    ElfW(Off) offset;
    if (values[DT_SYMENT] != sizeof(ElfW(Sym)) || !find_table(layout, values[DT_SYMTAB], sizeof(ElfW(Sym)), &offset)
        || !find_table(layout, values[DT_STRTAB], values[DT_STRSZ], &offset))
        return "is damaged: its table of names is not where it should be";
    bool has_relocations = values[DT_RELA] != 0, has_calls = values[DT_JMPREL] != 0;
    if ((has_relocations && (values[DT_RELAENT] != sizeof(ElfW(Rela)) || !relocations_are_sound(layout)))
        || (has_calls
            && (values[DT_PLTREL] != DT_RELA || !find_table(layout, values[DT_JMPREL], values[DT_PLTRELSZ], &offset))))
        return "is damaged: its table of addresses to fill in is none";
    return NULL;
}

const char *library_layout_problem(FILE *file, const ElfW(Ehdr) * head, long size)
{
    assert(file && size >= 0);
    Layout layout = { .file = file, .size = (ElfW(Off))size, .part_count = head->e_phnum };
    if (head->e_phnum > PARTS_MAX)
        return "is damaged: it has too many parts";
    if (!read_at(&layout, head->e_phoff, layout.parts, (size_t)layout.part_count * sizeof layout.parts[0]))
        return "is cut off: a part of the file is missing";
    const char *problem = parts_problem(&layout);
    if (!problem)
        problem = read_dynamic(&layout);
    return problem ? problem : tables_problem(&layout);
}
