/*
 * The C door for the shared vectors. It reads lines of
 *
 *   OPTIONS <tab> OPERATION <tab> REQUEST
 *
 * and answers each with a line of
 *
 *   STATUS <tab> ANSWER or ERROR
 *
 * A handle is used again for as long as the options stay the same.
 */
#define _POSIX_C_SOURCE 200809L

#include <loopx.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *why)
{
    fprintf(stderr, "door: %s\n", why);
    exit(2);
}

int main(void)
{
    loopx_handle *kernel = NULL;
    char *line = NULL, *opened = NULL;
    size_t room = 0;
    ssize_t length;

    while ((length = getline(&line, &room, stdin)) > 0) {
        char *operation, *request, *answer = NULL, *error = NULL;
        loopx_status status = LOOPX_STATUS_OK;

        if (line[length - 1] == '\n')
            line[length - 1] = 0;
        operation = strchr(line, '\t');
        if (operation == NULL)
            die("a line without an operation");
        *operation++ = 0;
        request = strchr(operation, '\t');
        if (request == NULL)
            die("a line without a request");
        *request++ = 0;

        if (opened == NULL || strcmp(opened, line) != 0) {
            loopx_close(kernel);
            free(opened);
            opened = NULL;
            status = loopx_open(line, &kernel, &error);
            if (status == LOOPX_STATUS_OK && (opened = strdup(line)) == NULL)
                die("out of memory");
        }
        if (status == LOOPX_STATUS_OK)
            status = loopx_call(kernel, operation, request, &answer, &error);
        if ((answer == NULL) == (error == NULL))
            die("neither an answer nor an error, or both");
        printf("%d\t%s\n", (int)status, answer != NULL ? answer : error);
        fflush(stdout);
        loopx_free(answer);
        loopx_free(error);
    }
    loopx_close(kernel);
    free(opened);
    free(line);
    return 0;
}
