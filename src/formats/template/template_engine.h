// template_engine.h - how template code is run: a job goes to the confined process of its language, a result comes
// back. Belongs here: the request and its result. Not here: the interpreters and their files (template/, a program of
// its own), the process and its confinement (base/worker.h), what a template is (template.h).
#ifndef TALUS_FORMATS_TEMPLATE_ENGINE_H
#define TALUS_FORMATS_TEMPLATE_ENGINE_H

#include "formats/template/template.h"

typedef struct EngineRequest {
    TemplateLanguage language;
    const TemplateScript *script;
    const char *fields, *context;  // JSON
    const char *folder;            // files may be read below it
    int64_t time_ms, memory_bytes, output_bytes;
    uint16_t file;         // for places of messages
    TemplateFiles *files;  // of TemplateJob
    WorkerBudget *budget;  // of TemplateJob
} EngineRequest;

// Runs the request and reports what the code prints and why it fails. From any thread; requests of a language take
// turns.
bool engine_run(const EngineRequest *request, TemplateResult *result, DiagSink *diags);
// What the process answers in the end. It may have been taken over by the code that it ran: a broken answer is
// reported.
bool engine_read_answer(const EngineRequest *request, const WorkerAnswer *answer, TemplateResult *result,
                        DiagSink *diags);
void engine_stop_all(void);                                // ends the processes; the next request starts new ones
bool engine_is_available(char *program, size_t capacity);  // whether talus-template is there, and where

#endif
