// js.c - JavaScript templates on JavaScriptCore, inside of talus-template.
// Every job gets a global object of its own; the engine behind it is shared by all jobs of the process.
#include "engine.h"

#include "base/memory.h"

#include <JavaScriptCore/JavaScript.h>
#include <stdlib.h>
#include <string.h>

#define TEMPLATE_URL "template.js"

static JSContextGroupRef engine;

void engine_js_start(void)
{
    engine = JSContextGroupCreate();
    JSGlobalContextRef context = JSGlobalContextCreateInGroup(engine, NULL);
    JSStringRef warm_up = JSStringCreateWithUTF8CString("new Date(0).toString() + [3, 1].sort() + /a/.test('a') + 0.1");
    JSEvaluateScript(context, warm_up, NULL, NULL, 1, NULL);
    JSStringRelease(warm_up);
    JSGlobalContextRelease(context);
}

static JSStringRef js_string(const char *text) { return JSStringCreateWithUTF8CString(text); }

static JSValueRef js_text(JSContextRef context, const char *text)
{
    JSStringRef string = js_string(text);
    JSValueRef value = JSValueMakeString(context, string);
    JSStringRelease(string);
    return value;
}

static JSValueRef js_get(JSContextRef context, JSObjectRef object, const char *name)
{
    JSStringRef key = js_string(name);
    JSValueRef value = JSObjectGetProperty(context, object, key, NULL);
    JSStringRelease(key);
    return value ? value : JSValueMakeUndefined(context);
}

static void add_text(JSContextRef context, JSValueRef value, Text *out)
{
    JSStringRef string = JSValueToStringCopy(context, value, NULL);
    if (!string)
        return;
    size_t size = JSStringGetMaximumUTF8CStringSize(string);
    char *buffer = memory_alloc_raw(size);
    size_t used = JSStringGetUTF8CString(string, buffer, size);
    if (used > 0)
        text_add(out, buffer, used - 1);
    free(buffer);
    JSStringRelease(string);
}

// The generated line of the innermost call that is the template's own, from a stack "name@template.js:12:3\n...".
static int template_line(const char *stack)
{
    const char *at = stack ? strstr(stack, TEMPLATE_URL ":") : NULL;
    return at ? atoi(at + strlen(TEMPLATE_URL) + 1) : 0;
}

static void take_exception(JSContextRef context, JSValueRef exception, EngineJob *job)
{
    add_text(context, exception, &job->message);
    if (JSValueIsObject(context, exception)) {
        JSObjectRef error = JSValueToObject(context, exception, NULL);
        Text stack = { 0 }, url = { 0 };
        add_text(context, js_get(context, error, "stack"), &stack);
        add_text(context, js_get(context, error, "sourceURL"), &url);
        job->line = template_line(stack.data);
        if (job->line == 0 && url.data && !strcmp(url.data, TEMPLATE_URL)) {
            double line = JSValueToNumber(context, js_get(context, error, "line"), NULL);
            job->line = line > 0 && line < 1e9 ? (int)line : 0;
        }
        text_free(&stack);
        text_free(&url);
    }
}

static JSValueRef evaluate(JSContextRef context, const char *source, size_t size, const char *url,
                           JSValueRef *exception)
{
    char *copy = memory_text(source, size);
    JSStringRef code = js_string(copy), name = js_string(url);
    JSValueRef value = JSEvaluateScript(context, code, NULL, name, 1, exception);
    JSStringRelease(code);
    JSStringRelease(name);
    free(copy);
    return value;
}

static JSValueRef load_module(JSContextRef context, const char *name, JSValueRef *exception)
{
    size_t size;
    const char *source = strcmp(name, "prelude") ? engine_module(name, ".js", &size) : NULL;
    if (!source)
        return JSValueMakeUndefined(context);
    char url[80];
    snprintf(url, sizeof url, "%s.js", name);
    return evaluate(context, source, size, url, exception);
}

static JSValueRef throw_text(JSContextRef context, const char *text, JSValueRef *exception)
{
    *exception = js_text(context, text);
    return JSValueMakeUndefined(context);
}

static JSValueRef ask_file(JSContextRef context, EngineJob *job, const char *path, bool content, JSValueRef *exception)
{
    const EngineFile *file = engine_file(job, path);
    if (!file)
        return throw_text(context, "a file is on its way", exception);
    if (!content)
        return JSValueMakeBoolean(context, file->is_found);
    return js_text(context, file->is_found ? file->content : "");
}

static void say(EngineJob *job, const char *kind, const char *text)
{
    char *message;
    long line = strtol(text, &message, 10);
    if (*message == ':')
        message++;
    engine_say(job, strcmp(kind, "note") ? DIAG_WARNING : DIAG_NOTE, (int)line, message, strlen(message));
}

static void write_file(JSContextRef context, EngineJob *job, const char *name, JSValueRef content)
{
    Text text = { 0 };
    add_text(context, content, &text);
    engine_write(job, name, text.data ? text.data : "", text.length);
    text_free(&text);
}

// host(kind, text): see modules/prelude.js.
static JSValueRef call_host(JSContextRef context, JSObjectRef function, JSObjectRef self, size_t count,
                            const JSValueRef arguments[], JSValueRef *exception)
{
    (void)self;
    EngineJob *job = JSObjectGetPrivate(function);
    if (count < 2 || !job)
        return JSValueMakeUndefined(context);
    Text kind = { 0 }, text = { 0 };
    add_text(context, arguments[0], &kind);
    add_text(context, arguments[1], &text);
    const char *argument = text.data ? text.data : "";
    JSValueRef value = JSValueMakeUndefined(context);
    if (!kind.data)
        ;
    else if (!strcmp(kind.data, "module"))
        value = load_module(context, argument, exception);
    else if (!strcmp(kind.data, "read"))
        value = ask_file(context, job, argument, true, exception);
    else if (!strcmp(kind.data, "exists"))
        value = ask_file(context, job, argument, false, exception);
    else if (!strcmp(kind.data, "write") && count >= 3)
        write_file(context, job, argument, arguments[2]);
    else
        say(job, kind.data, argument);
    text_free(&kind);
    text_free(&text);
    return value ? value : JSValueMakeUndefined(context);
}

// A function that knows its job.
static JSObjectRef make_host(JSContextRef context, EngineJob *job)
{
    JSClassDefinition definition = kJSClassDefinitionEmpty;
    definition.className = "Host";
    definition.callAsFunction = call_host;
    JSClassRef class = JSClassCreate(&definition);
    JSObjectRef host = JSObjectMake(context, class, job);
    JSClassRelease(class);
    return host;
}

static JSObjectRef make_pieces(JSContextRef context, const EngineJob *job, JSObjectRef *lines)
{
    JSObjectRef texts = JSObjectMakeArray(context, 0, NULL, NULL);
    *lines = JSObjectMakeArray(context, 0, NULL, NULL);
    for (uint32_t i = 0; i < job->piece_count; i++) {
        JSObjectSetPropertyAtIndex(context, texts, i, js_text(context, job->pieces[i]), NULL);
        JSObjectSetPropertyAtIndex(context, *lines, i, JSValueMakeNumber(context, job->piece_lines[i]), NULL);
    }
    return texts;
}

static JSValueRef from_json(JSContextRef context, const char *text)
{
    JSStringRef json = js_string(text);
    JSValueRef value = JSValueMakeFromJSONString(context, json);
    JSStringRelease(json);
    return value ? value : JSValueMakeUndefined(context);
}

static JSValueRef call(JSContextRef context, JSValueRef function, size_t count, const JSValueRef *arguments,
                       JSValueRef *exception)
{
    JSObjectRef object = JSValueToObject(context, function, NULL);
    return object ? JSObjectCallAsFunction(context, object, NULL, count, arguments, exception) : NULL;
}

static JSObjectRef prepare(JSContextRef context, EngineJob *job, JSValueRef *exception)
{
    size_t size;
    const char *source = engine_module("prelude", ".js", &size);
    JSValueRef setup = evaluate(context, source, size, "prelude.js", exception);
    if (!setup)
        return NULL;
    JSObjectRef lines;
    JSObjectRef pieces = make_pieces(context, job, &lines);
    JSValueRef arguments[] = { make_host(context, job), JSValueMakeNumber(context, (double)job->output_limit), pieces,
                               lines };
    JSValueRef engine_object = call(context, setup, COUNT_OF(arguments), arguments, exception);
    return engine_object ? JSValueToObject(context, engine_object, NULL) : NULL;
}

static bool take_output(JSContextRef context, JSObjectRef prepared, EngineJob *job, JSValueRef *exception)
{
    JSValueRef text = call(context, js_get(context, prepared, "text"), 0, NULL, exception);
    JSValueRef lines = text ? call(context, js_get(context, prepared, "lines"), 0, NULL, exception) : NULL;
    if (!lines)
        return false;
    add_text(context, text, &job->text);
    JSObjectRef array = JSValueToObject(context, lines, NULL);
    const char *bytes = JSObjectGetTypedArrayBytesPtr(context, array, NULL);
    if (bytes)
        text_add(&job->lines, bytes, JSObjectGetTypedArrayByteLength(context, array, NULL));
    return true;
}

// The code stands on the first line of the function, so that line numbers are those of the generated script.
static bool run(JSContextRef context, EngineJob *job, JSValueRef *exception)
{
    JSObjectRef prepared = prepare(context, job, exception);
    if (!prepared)
        return false;
    Text code = { 0 };
    text_add_string(&code, "(function (fields, context, talus_text, talus_value, talus_import) { 'use strict'; ");
    text_add(&code, job->code, job->code_size);
    text_add_string(&code, "\n})");
    JSValueRef function = evaluate(context, code.data, code.length, TEMPLATE_URL, exception);
    text_free(&code);
    if (!function)
        return false;
    JSValueRef arguments[] = { function, from_json(context, job->fields), from_json(context, job->context) };
    if (!call(context, js_get(context, prepared, "run"), COUNT_OF(arguments), arguments, exception))
        return false;
    return take_output(context, prepared, job, exception);
}

bool engine_js_run(EngineJob *job)
{
    JSGlobalContextRef context = JSGlobalContextCreateInGroup(engine, NULL);
    JSValueRef exception = NULL;
    bool ok = run(context, job, &exception);
    if (!ok && exception)
        take_exception(context, exception, job);
    JSGlobalContextRelease(context);
    return ok;
}
