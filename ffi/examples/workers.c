/*
 * Many workers on one goal, as threads that share a handle or as forked processes that
 * inherit it. Worker N is the agent wN; each admits a turn and settles it.
 *
 *     cc workers.c $(pkg-config --cflags --libs loopx) -pthread -o workers
 *     ./workers threads 8
 *     ./workers processes 8
 *
 * Prints how many delivered.
 */
#define _POSIX_C_SOURCE 200809L
#include <loopx.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 64

struct worker {
    const loopx_handle *kernel;
    const char *kind;
    int number;
    int delivered;
};

static int call(const struct worker *worker, const char *operation, const char *more)
{
    char *answer, *error, request[512];
    loopx_status status;

    snprintf(request, sizeof request,
             "{\"agent_id\": \"w%d\", \"turn_instance_id\": \"%s-w%d\"%s}", worker->number,
             worker->kind, worker->number, more);
    status = loopx_call(worker->kernel, operation, request, &answer, &error);
    if (status != LOOPX_STATUS_OK)
        fprintf(stderr, "w%d: %s\n", worker->number, error);
    loopx_free(answer);
    loopx_free(error);
    return status == LOOPX_STATUS_OK;
}

static void *work(void *given)
{
    struct worker *worker = given;

    worker->delivered =
        call(worker, "turn.admit", "")
        && call(worker, "turn.settle",
                ", \"outcome\": \"completed\", \"evidence\": [\"done\"], \"no_follow_up\": true");
    return NULL;
}

static int as_threads(struct worker *workers, int count)
{
    pthread_t threads[MOST];
    int n, started, delivered = 0;

    for (started = 0; started < count; started++)
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0)
            break;
    for (n = 0; n < started; n++) {
        pthread_join(threads[n], NULL);
        delivered += workers[n].delivered;
    }
    return delivered;
}

static int as_processes(struct worker *workers, int count, loopx_handle *kernel)
{
    int n, status, delivered = 0;

    for (n = 0; n < count; n++) {
        pid_t child = fork();
        if (child == 0) {
            work(&workers[n]);
            loopx_close(kernel);
            _exit(workers[n].delivered ? 0 : 1);
        }
    }
    while (wait(&status) > 0)
        delivered += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    return delivered;
}

int main(int words_count, char **words)
{
    struct worker workers[MOST];
    loopx_handle *kernel;
    char *answer, *error;
    int n, delivered, count = words_count == 3 ? atoi(words[2]) : 0;
    int threads = words_count == 3 && strcmp(words[1], "threads") == 0;

    if (count < 1 || count > MOST || (!threads && strcmp(words[1], "processes") != 0)) {
        fprintf(stderr, "usage: workers threads|processes COUNT (at most %d)\n", MOST);
        return 2;
    }
    if (loopx_open("{}", &kernel, &error) != LOOPX_STATUS_OK) {
        fprintf(stderr, "%s\n", error);
        loopx_free(error);
        return 1;
    }
    /* The handle is in use before it is shared: its store is open. */
    if (loopx_call(kernel, "todo.list", "{}", &answer, &error) != LOOPX_STATUS_OK)
        fprintf(stderr, "%s\n", error);
    loopx_free(answer);
    loopx_free(error);

    for (n = 0; n < count; n++)
        workers[n] = (struct worker){kernel, words[1], n, 0};
    delivered = threads ? as_threads(workers, count) : as_processes(workers, count, kernel);
    printf("%d of %d delivered\n", delivered, count);
    loopx_close(kernel);
    return delivered == count ? 0 : 1;
}
