// lua.c - Lua templates on Lua 5.4, inside of talus-template. Every job gets a state of its own with an
// allocator that stops at the job's memory limit.
#include "engine.h"

#include "base/memory.h"
#include "base/text.h"

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE_CHUNK "=template"

typedef struct Budget {
    uint64_t used, limit;
} Budget;

static void *allocate(void *context, void *data, size_t old_size, size_t new_size)
{
    Budget *budget = context;
    if (!data)
        old_size = 0;  // then it is a type tag, not a size
    if (new_size == 0) {
        free(data);
        budget->used -= old_size;
        return NULL;
    }
    if (new_size > old_size && budget->used + (new_size - old_size) > budget->limit)
        return NULL;
    void *moved = realloc(data, new_size);
    if (moved)
        budget->used += new_size - old_size;
    return moved;
}

// The generated line of the innermost function of the template on the stack.
static int template_line(lua_State *lua)
{
    lua_Debug frame;
    for (int level = 0; lua_getstack(lua, level, &frame); level++) {
        lua_getinfo(lua, "Sl", &frame);
        if (!strcmp(frame.source, TEMPLATE_CHUNK))
            return frame.currentline;
    }
    return 0;
}

static EngineJob *job_of(lua_State *lua) { return lua_touserdata(lua, lua_upvalueindex(1)); }

// The file, or an error that ends the run when it first has to be fetched.
static const EngineFile *need_file(lua_State *lua, const char *path)
{
    const EngineFile *file = engine_file(job_of(lua), path);
    if (!file)
        luaL_error(lua, "a file is on its way");
    return file;
}

static int load_module(lua_State *lua, const char *name)
{
    size_t size = 0;
    const char *source = strcmp(name, "prelude") ? engine_module(name, ".lua", &size) : NULL;
    char path[256], chunk[264];
    snprintf(path, sizeof path, "%.200s.lua", name);
    snprintf(chunk, sizeof chunk, "=%s", path);
    if (!source) {
        const EngineFile *file = need_file(lua, path);
        source = file->is_found ? file->content : NULL;
        size = file->size;
    }
    if (!source)
        lua_pushnil(lua);
    else if (luaL_loadbufferx(lua, source, size, chunk, "t") != LUA_OK)
        return lua_error(lua);
    return 1;
}

// host(kind, text): see modules/prelude.lua.
static int call_host(lua_State *lua)
{
    const char *kind = luaL_checkstring(lua, 1);
    size_t size;
    const char *text = luaL_checklstring(lua, 2, &size);
    if (!strcmp(kind, "module"))
        return load_module(lua, text);
    if (!strcmp(kind, "read")) {
        const EngineFile *file = need_file(lua, text);
        if (file->is_found)
            lua_pushlstring(lua, file->content, file->size);
        else
            lua_pushnil(lua);
        return 1;
    }
    engine_say(job_of(lua), strcmp(kind, "note") ? DIAG_WARNING : DIAG_NOTE, template_line(lua), text, size);
    return 0;
}

// A reader of the JSON that this program wrote; what is not understood becomes nil.
typedef struct Json {
    const char *at, *end;
    lua_State *lua;
} Json;

static void push_json(Json *json, int depth);

static void push_json_string(Json *json)
{
    Text text = { 0 };
    for (json->at++; json->at < json->end && *json->at != '"'; json->at++) {
        char c = *json->at;
        if (c == '\\' && ++json->at < json->end) {
            c = *json->at;
            if (c == 'u' && json->end - json->at > 4) {
                char digits[5] = { 0 };
                memcpy(digits, json->at + 1, 4);
                c = (char)strtol(digits, NULL, 16);
                json->at += 4;
            } else if (c == 'n' || c == 't' || c == 'r') {
                c = c == 'n' ? '\n' : c == 't' ? '\t' : '\r';
            }
        }
        text_add_char(&text, c);
    }
    json->at++;
    lua_pushlstring(json->lua, text.data ? text.data : "", text.length);
    text_free(&text);
}

static void skip_json_space(Json *json)
{
    while (json->at < json->end && strchr(" \n\t\r,:", *json->at))
        json->at++;
}

static void push_json_table(Json *json, char close, int depth)
{
    lua_newtable(json->lua);
    json->at++;
    for (lua_Integer index = 1;; index++) {
        skip_json_space(json);
        if (json->at >= json->end || *json->at == close)
            break;
        if (close == '}') {
            push_json_string(json);
            skip_json_space(json);
            push_json(json, depth + 1);
            lua_rawset(json->lua, -3);
        } else {
            push_json(json, depth + 1);
            lua_rawseti(json->lua, -2, index);
        }
    }
    json->at++;
}

static void push_json(Json *json, int depth)
{
    luaL_checkstack(json->lua, 8, "values");
    skip_json_space(json);
    char c = json->at < json->end ? *json->at : '\0';
    double number;
    if (depth > 1000) {
        json->at = json->end;
        lua_pushnil(json->lua);
    } else if (c == '{' || c == '[') {
        push_json_table(json, c == '{' ? '}' : ']', depth);
    } else if (c == '"') {
        push_json_string(json);
    } else if (c == 't' || c == 'f') {
        lua_pushboolean(json->lua, c == 't');
        json->at += c == 't' ? 4 : 5;
    } else {
        const char *after = text_scan_double(json->at, json->end, &number);
        if (after)
            lua_pushnumber(json->lua, number);
        else
            lua_pushnil(json->lua);
        json->at = after ? after : json->at + 4;
    }
}

static void open_libraries(lua_State *lua)
{
    static const luaL_Reg libraries[] = {
        { LUA_GNAME, luaopen_base },        { LUA_COLIBNAME, luaopen_coroutine }, { LUA_TABLIBNAME, luaopen_table },
        { LUA_STRLIBNAME, luaopen_string }, { LUA_MATHLIBNAME, luaopen_math },    { LUA_UTF8LIBNAME, luaopen_utf8 },
        { LUA_DBLIBNAME, luaopen_debug },
    };
    for (int i = 0; i < COUNT_OF(libraries); i++) {
        luaL_requiref(lua, libraries[i].name, libraries[i].func, 1);
        lua_pop(lua, 1);
    }
    // What could read files or look behind the interpreter goes; getinfo and traceback stay.
    static const char *const gone[] = { "dofile", "loadfile", "collectgarbage" };
    for (int i = 0; i < COUNT_OF(gone); i++) {
        lua_pushnil(lua);
        lua_setglobal(lua, gone[i]);
    }
    lua_getglobal(lua, "debug");
    lua_newtable(lua);
    static const char *const kept[] = { "getinfo", "traceback" };
    for (int i = 0; i < COUNT_OF(kept); i++) {
        lua_getfield(lua, -2, kept[i]);
        lua_setfield(lua, -2, kept[i]);
    }
    lua_setglobal(lua, "debug");
    lua_pop(lua, 1);
}

static int load_chunk(lua_State *lua, const char *code, size_t size, const char *name)
{
    return luaL_loadbufferx(lua, code, size, name, "t");
}

static void push_arguments(lua_State *lua, EngineJob *job)
{
    lua_pushlightuserdata(lua, job);
    lua_pushcclosure(lua, call_host, 1);
    lua_pushnumber(lua, (double)job->output_limit);
    lua_createtable(lua, (int)job->piece_count, 0);
    lua_createtable(lua, (int)job->piece_count, 0);
    for (uint32_t i = 0; i < job->piece_count; i++) {
        lua_pushlstring(lua, job->pieces[i], job->piece_sizes[i]);
        lua_rawseti(lua, -3, (lua_Integer)i + 1);
        lua_pushinteger(lua, job->piece_lines[i]);
        lua_rawseti(lua, -2, (lua_Integer)i + 1);
    }
    Json fields = { job->fields, job->fields + strlen(job->fields), lua };
    push_json(&fields, 0);
    Json context = { job->context, job->context + strlen(job->context), lua };
    push_json(&context, 0);
}

static void take_lines(lua_State *lua, int index, EngineJob *job)
{
    lua_Integer count = luaL_len(lua, index);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(lua, index, i);
        wire_put_u32(&job->lines, (uint32_t)lua_tonumber(lua, -1));
        lua_pop(lua, 1);
    }
}

// Runs protected: any error of Lua ends in engine_lua_run.
static int run(lua_State *lua)
{
    EngineJob *job = lua_touserdata(lua, 1);
    size_t size;
    const char *prelude = engine_module("prelude", ".lua", &size);
    open_libraries(lua);
    if (load_chunk(lua, prelude, size, "=prelude.lua") != LUA_OK)
        return lua_error(lua);
    push_arguments(lua, job);
    lua_call(lua, 6, 1);
    if (load_chunk(lua, job->code, job->code_size, TEMPLATE_CHUNK) != LUA_OK)
        return lua_error(lua);
    lua_call(lua, 0, 0);
    lua_call(lua, 0, 2);
    const char *text = lua_tolstring(lua, -2, &size);
    text_add(&job->text, text ? text : "", text ? size : 0);
    take_lines(lua, lua_gettop(lua), job);
    return 0;
}

// Message handler: notes the line while the stack of the error still stands.
static int note_error(lua_State *lua)
{
    job_of(lua)->line = template_line(lua);
    return 1;
}

// "template:12: what" -> line 12 (of syntax errors, which have no stack) and "what".
static void take_error(lua_State *lua, EngineJob *job)
{
    const char *message = luaL_tolstring(lua, -1, NULL);
    const char *prefix = &TEMPLATE_CHUNK[1];
    if (text_starts_with(message, prefix) && message[strlen(prefix)] == ':') {
        char *after;
        long line = strtol(message + strlen(prefix) + 1, &after, 10);
        if (job->line == 0)
            job->line = (int)line;
        if (text_starts_with(after, ": "))
            message = after + 2;
    }
    text_add_string(&job->message, message);
}

bool engine_lua_run(EngineJob *job)
{
    Budget budget = { 0, job->memory_limit };
    lua_State *lua = lua_newstate(allocate, &budget);
    if (!lua) {
        text_add_string(&job->message, "not enough memory");
        return false;
    }
    lua_pushlightuserdata(lua, job);
    lua_pushcclosure(lua, note_error, 1);
    lua_pushcfunction(lua, run);
    lua_pushlightuserdata(lua, job);
    bool ok = lua_pcall(lua, 1, 0, 1) == LUA_OK;
    if (!ok)
        take_error(lua, job);
    lua_close(lua);
    return ok;
}
