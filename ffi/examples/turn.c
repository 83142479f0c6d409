/*
 * One delivered turn in two calls: admit it, do the work, settle it.
 *
 *     cc turn.c $(pkg-config --cflags --libs loopx) -o turn
 *     ./turn ada ada-1
 *
 * Running it again with the same turn id gives the same two answers, marked as repeats, and
 * spends nothing more.
 */
#include <loopx.h>

#include <stdio.h>
#include <string.h>

/* Calls, prints the answer or the error, and says whether it was answered. */
static int say(const loopx_handle *kernel, const char *operation, const char *request)
{
    char *answer, *error;
    loopx_status status = loopx_call(kernel, operation, request, &answer, &error);

    printf("%s\n", status == LOOPX_STATUS_OK ? answer : error);
    loopx_free(answer);
    loopx_free(error);
    return status == LOOPX_STATUS_OK;
}

static int plain(const char *id)
{
    return strlen(id) <= 128 && strpbrk(id, "\"\\\n") == NULL;
}

int main(int count, char **words)
{
    loopx_handle *kernel;
    char *error, request[512];
    int done;

    if (count != 3 || !plain(words[1]) || !plain(words[2])) {
        fprintf(stderr, "usage: turn AGENT TURN\n");
        return 2;
    }
    if (loopx_open("{}", &kernel, &error) != LOOPX_STATUS_OK) {
        fprintf(stderr, "%s\n", error);
        loopx_free(error);
        return 1;
    }
    snprintf(request, sizeof request, "{\"agent_id\": \"%s\", \"turn_instance_id\": \"%s\"}",
             words[1], words[2]);
    done = say(kernel, "turn.admit", request);
    if (done) {
        /* Here the agent works. */
        snprintf(request, sizeof request,
                 "{\"agent_id\": \"%s\", \"turn_instance_id\": \"%s\", \"outcome\": \"completed\","
                 " \"evidence\": [\"the tests pass\"], \"no_follow_up\": true}",
                 words[1], words[2]);
        done = say(kernel, "turn.settle", request);
    }
    loopx_close(kernel);
    return done ? 0 : 1;
}
