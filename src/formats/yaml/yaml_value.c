// yaml_value.c - scalars to values and nodes back to text.
#include "formats/yaml/yaml.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const char *scalar_start(const YamlNode *node)
{
    if (!yaml_is_scalar(node))
        return NULL;
    const char *text = node->text;
    while (*text == ' ' || *text == '\t' || *text == '\n' || *text == '\r')
        text++;
    return text;
}

static bool rest_is_blank(const char *text) { return text[strspn(text, " \t\r\n")] == '\0'; }

bool yaml_double_prefix(const YamlNode *node, double *value)
{
    assert_debug(value);
    const char *text = scalar_start(node);
    double number;
    if (!text || !text_scan_double(text, text + strlen(text), &number) || !isfinite(number))
        return false;
    *value = number;
    return true;
}

bool yaml_double(const YamlNode *node, double *value)
{
    const char *text = scalar_start(node);
    double number;
    const char *end = text ? text_scan_double(text, text + strlen(text), &number) : NULL;
    if (!end || !isfinite(number) || !rest_is_blank(end))
        return false;
    *value = number;
    return true;
}

bool yaml_int_prefix(const YamlNode *node, int *value)
{
    assert_debug(value);
    const char *text = scalar_start(node);
    int64_t number;
    if (!text || !text_scan_int(text, text + strlen(text), &number) || number < INT_MIN || number > INT_MAX)
        return false;
    *value = (int)number;
    return true;
}

bool yaml_int(const YamlNode *node, int *value)
{
    const char *text = scalar_start(node);
    int64_t number;
    const char *end = text ? text_scan_int(text, text + strlen(text), &number) : NULL;
    if (!end || number < INT_MIN || number > INT_MAX || !rest_is_blank(end))
        return false;
    *value = (int)number;
    return true;
}

bool yaml_bool(const YamlNode *node, bool *value)
{
    static const char *const words[] = {
        "y", "Y", "yes", "Yes", "YES", "true",  "True",  "TRUE",  "on",  "On",  "ON",
        "n", "N", "no",  "No",  "NO",  "false", "False", "FALSE", "off", "Off", "OFF"
    };
    if (!yaml_is_scalar(node))
        return false;
    for (int i = 0; i < COUNT_OF(words); i++) {
        if (!strcmp(node->text, words[i])) {
            *value = i < COUNT_OF(words) / 2;
            return true;
        }
    }
    return false;
}

static bool is_plain_scalar(const char *text)
{
    if (!*text || strchr(" \t-?:,[]{}#&*!|>'\"%@`", *text)) {
        double number;
        if (*text != '-' || !text_to_double(text, &number))
            return false;
    }
    size_t length = strlen(text);
    if (text[length - 1] == ' ' || text[length - 1] == ':')
        return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f || strchr(",[]{}\"'#", *c) || (*c == ':' && c[1] == ' '))
            return false;
    return !strstr(text, "---") && strcmp(text, "...") && strcmp(text, "<<");
}

void yaml_write_scalar(Text *out, const char *text)
{
    if (is_plain_scalar(text)) {
        text_add_string(out, text);
        return;
    }
    text_add_char(out, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            text_printf(out, "\\%c", *c);
        else if (*c == '\n')
            text_add_string(out, "\\n");
        else if (*c == '\t')
            text_add_string(out, "\\t");
        else if (*c < 0x20 || *c == 0x7f)
            text_printf(out, "\\x%02x", *c);
        else
            text_add_char(out, (char)*c);
    }
    text_add_char(out, '"');
}

static bool is_short_list(const YamlNode *node)
{
    if (node->kind != YAML_LIST)
        return false;
    for (int i = 0; i < node->count; i++)
        if (node->items[i]->kind != YAML_SCALAR)
            return false;
    return true;
}

static void write_short_list(Text *out, const YamlNode *node, int indent)
{
    text_add_string(out, "[ ");
    for (int i = 0; i < node->count; i++) {
        if (i > 0)
            text_add_string(out, ", ");
        if (i > 0 && i % 10 == 0)
            text_printf(out, "\n%*s", indent + 2, "");
        yaml_write_scalar(out, node->items[i]->text);
    }
    text_add_string(out, " ]\n");
}

void yaml_write_value(Text *out, const YamlNode *node, int indent)
{
    if (node->kind == YAML_SCALAR) {
        text_add_char(out, ' ');
        yaml_write_scalar(out, node->text);
        text_add_char(out, '\n');
    } else if (node->count == 0) {
        text_add_string(out, node->kind == YAML_LIST ? " []\n" : " {}\n");
    } else if (is_short_list(node)) {
        text_add_char(out, ' ');
        write_short_list(out, node, indent + 2);
    } else if (node->kind == YAML_LIST) {
        text_add_char(out, '\n');
        for (int i = 0; i < node->count; i++) {
            text_printf(out, "%*s-", indent + 2, "");
            yaml_write_value(out, node->items[i], indent + 2);
        }
    } else {
        text_add_char(out, '\n');
        for (int i = 0; i < node->count; i++) {
            text_printf(out, "%*s", indent + 2, "");
            yaml_write_scalar(out, node->pairs[i].key);
            text_add_char(out, ':');
            yaml_write_value(out, node->pairs[i].value, indent + 2);
        }
    }
}
