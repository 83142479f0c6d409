/*
 * May this agent run? Prints the kernel's packet, and ends with 0 where the answer is "run",
 * with 3 where it is "wait" and with 1 where there is no answer.
 *
 *     cc decide.c $(pkg-config --cflags --libs loopx) -o decide
 *     ./decide ada          (in a folder of a LoopX project)
 */
#include <loopx.h>

#include <stdio.h>
#include <string.h>

int main(int count, char **words)
{
    loopx_handle *kernel;
    char *answer, *error, request[256];
    loopx_status status;
    int code;

    /* The id stands in JSON as it is, so it must be one: no quotes, no backslashes. */
    if (count != 2 || strlen(words[1]) > 128 || strpbrk(words[1], "\"\\\n") != NULL) {
        fprintf(stderr, "usage: decide AGENT\n");
        return 2;
    }
    snprintf(request, sizeof request, "{\"agent_id\": \"%s\"}", words[1]);

    status = loopx_open("{}", &kernel, &error);
    if (status != LOOPX_STATUS_OK) {
        fprintf(stderr, "loopx %s: %s\n", loopx_version(), error);
        loopx_free(error);
        return 1;
    }
    status = loopx_call(kernel, "quota.should_run", request, &answer, &error);
    if (status == LOOPX_STATUS_OK) {
        puts(answer);
        /* A program that does more than this takes its JSON library here. */
        code = strstr(answer, "\"should_run\":true") != NULL ? 0 : 3;
    } else {
        fprintf(stderr, "%s\n", error);
        code = 1;
    }
    loopx_free(answer);
    loopx_free(error);
    loopx_close(kernel);
    return code;
}
