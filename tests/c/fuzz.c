/*
 * Random bytes through the C door: fuzz SEED CALLS OPTIONS OPERATION...
 *
 * Whatever comes, a call ends with a status of the header, and with an answer or an error and
 * never both. Prints nothing but what it counted, on standard error.
 */
#include <loopx.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 400

static uint64_t state;

static uint64_t below(uint64_t bound)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % bound;
}

/* Pieces of requests; what is put together of them is sometimes JSON. */
static const char *const PIECES[] = {
    "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\ud800", "null", "true", "-1", "1e999", "0",
    "9223372036854775808", "\"goal_id\":\"g\"", "\"agent_id\":\"a\"", "\"todo_id\":\"todo_1\"",
    "\"effect_id\":\"e\"", "\"text\":\"t\"", "\"role\":\"agent\"", "\"turn_instance_id\":\"t\"",
    "\"outcome\":\"completed\"", "\"evidence\":[\"e\"]", "\"host\":\"pi\"", "\xff", "\xc3", " "};

static void bytes(char *text)
{
    size_t length = below(ROOM - 1), n;

    for (n = 0; n < length; n++)
        text[n] = (char)(1 + below(255));
    text[length] = 0;
}

static void pieces(char *text)
{
    size_t count = below(12), n, used = 0;

    text[0] = 0;
    for (n = 0; n < count; n++) {
        const char *piece = PIECES[below(sizeof PIECES / sizeof *PIECES)];
        if (used + strlen(piece) + 1 >= ROOM)
            return;
        strcpy(text + used, piece);
        used += strlen(piece);
    }
}

/* An object of whole members, so that more than the parser is reached. */
static void object(char *text)
{
    size_t count = below(7), n;

    strcpy(text, "{\"goal_id\":\"g\"");
    for (n = 0; n < count; n++) {
        strcat(text, ",");
        strcat(text, PIECES[16 + below(9)]);
    }
    strcat(text, "}");
    if (below(4) == 0)
        text[below(strlen(text))] = (char)(1 + below(255));
}

static void check(int holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

int main(int count, char **words)
{
    unsigned long counted[8] = {0};
    loopx_handle *kernel = NULL, *other;
    char *answer, *error, operation[ROOM], request[ROOM];
    long call, calls;

    check(count > 4, "usage");
    state = strtoull(words[1], NULL, 10) * 2654435761u + 1;
    calls = strtol(words[2], NULL, 10);
    check(loopx_open(words[3], &kernel, &error) == LOOPX_STATUS_OK, "it opens");
    for (call = 0; call < calls; call++) {
        int operation_null = below(50) == 0, request_null = below(50) == 0;
        loopx_status status;

        if (below(8) == 0)
            bytes(operation);
        else
            strcpy(operation, words[4 + below((uint64_t)count - 4)]);
        switch (below(4)) {
        case 0: bytes(request); break;
        case 1: pieces(request); break;
        default: object(request); break;
        }
        answer = error = (char *)&state;
        status = loopx_call(kernel, operation_null ? NULL : operation,
                            request_null ? NULL : request, &answer, &error);
        check(status >= LOOPX_STATUS_OK && status <= LOOPX_STATUS_INTERNAL, "a known status");
        check((status == LOOPX_STATUS_OK) == (answer != NULL), "an answer when it is OK");
        check((status == LOOPX_STATUS_OK) == (error == NULL), "an error when it is not");
        check(status != LOOPX_STATUS_INTERNAL, error);
        check((answer != NULL ? answer : error)[0] == '{', "an object");
        counted[status]++;
        loopx_free(answer);
        loopx_free(error);

        if (below(16) == 0) {
            /* The options too; never those of a registry that is not the test's. */
            below(2) == 0 ? bytes(request) : pieces(request);
            other = (loopx_handle *)(void *)&state;
            status = loopx_open(request, &other, &error);
            check((status == LOOPX_STATUS_OK) == (other != NULL), "a handle when it is OK");
            loopx_free(error);
            loopx_close(other);
        }
    }
    loopx_close(kernel);
    fprintf(stderr, "%ld calls:", calls);
    for (call = 0; call < 8; call++)
        fprintf(stderr, " %lu", counted[call]);
    fprintf(stderr, "\n");
    return 0;
}
