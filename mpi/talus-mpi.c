// talus-mpi.c - `talus sweep` over many machines: rank 0 deals the rows and passes what comes back to one `talus sweep FILE --plan`, which
// keeps the journal; every other rank runs `talus sweep FILE --rows` and asks for the next row when it has one done. A program of its own,
// so that talus itself maps no MPI.
// usage: talus-mpi TALUS FILE [--fresh]
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAG_ASK = 1, TAG_RESULT, TAG_ROW, LINE_MAX_BYTES = 65536 };

typedef struct Child {
    pid_t pid;
    FILE *to, *from;
} Child;

// Starts talus with pipes to its standard input and output.
static int child_start(Child *child, char *const *arguments)
{
    int down[2], up[2];
    if (pipe(down) || pipe(up))
        return 0;
    child->pid = fork();
    if (child->pid == 0) {
        dup2(down[0], STDIN_FILENO);
        dup2(up[1], STDOUT_FILENO);
        close(down[0]);
        close(down[1]);
        close(up[0]);
        close(up[1]);
        setenv("TALUS_SWEEP_ALONE", "1", 1);
        execv(arguments[0], arguments);
        _exit(127);
    }
    close(down[0]);
    close(up[1]);
    child->to = fdopen(down[1], "w");
    child->from = fdopen(up[0], "r");
    return child->pid > 0 && child->to && child->from;
}

static int child_end(Child *child)
{
    int status = 0;
    fclose(child->to);
    char line[4096];
    while (fgets(line, sizeof line, child->from))
        fputs(line, stdout);
    fclose(child->from);
    waitpid(child->pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 5;
}

// The rows that are left; ends at an empty line.
static int *read_plan(FILE *from, int *count)
{
    int *rows = NULL, capacity = 0;
    char line[64];
    *count = 0;
    while (fgets(line, sizeof line, from) && line[0] != '\n') {
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            int *grown = realloc(rows, (size_t)capacity * sizeof *rows);
            if (!grown) {
                free(rows);
                return NULL;
            }
            rows = grown;
        }
        rows[(*count)++] = atoi(line);
    }
    return rows;
}

static int deal(char *talus, char *file, char *fresh, int ranks)
{
    char *const arguments[] = { talus, "sweep", file, "--plan", fresh, NULL };
    Child writer;
    int next = 0, count = 0, none = -1;
    if (!child_start(&writer, arguments))
        MPI_Abort(MPI_COMM_WORLD, 5);
    int *rows = read_plan(writer.from, &count);
    char *line = malloc(LINE_MAX_BYTES);
    for (int left = ranks - 1; left > 0 && line;) {
        MPI_Status status;
        MPI_Recv(line, LINE_MAX_BYTES, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        if (status.MPI_TAG == TAG_RESULT) {
            fputs(line, writer.to);
            fflush(writer.to);
        }
        int *row = next < count ? &rows[next++] : &none;
        MPI_Send(row, 1, MPI_INT, status.MPI_SOURCE, TAG_ROW, MPI_COMM_WORLD);
        left -= *row < 0;
    }
    free(line);
    free(rows);
    return child_end(&writer);
}

static int work(char *talus, char *file)
{
    char *const arguments[] = { talus, "sweep", file, "--rows", NULL };
    Child runner;
    char *line = malloc(LINE_MAX_BYTES);
    if (!line || !child_start(&runner, arguments))
        MPI_Abort(MPI_COMM_WORLD, 5);
    int row, tag = TAG_ASK;
    line[0] = '\0';
    for (;;) {
        MPI_Send(line, (int)strlen(line) + 1, MPI_CHAR, 0, tag, MPI_COMM_WORLD);
        MPI_Recv(&row, 1, MPI_INT, 0, TAG_ROW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (row < 0)
            break;
        fprintf(runner.to, "%d\n", row);
        fflush(runner.to);
        if (!fgets(line, LINE_MAX_BYTES, runner.from)) {
            fprintf(stderr, "talus-mpi: a rank cannot run rows\n");
            MPI_Abort(MPI_COMM_WORLD, 5);
        }
        tag = TAG_RESULT;
    }
    free(line);
    return child_end(&runner);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    if (argc < 3) {
        fprintf(stderr, "usage: talus-mpi TALUS FILE [--fresh]; started by `mpirun talus sweep FILE`\n");
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int code;
    if (ranks == 1) {
        char *const arguments[] = { argv[1], "sweep", argv[2], argc > 3 ? argv[3] : NULL, NULL };
        Child alone;
        code = child_start(&alone, arguments) ? child_end(&alone) : 5;
    } else {
        code = rank == 0 ? deal(argv[1], argv[2], argc > 3 ? argv[3] : NULL, ranks) : work(argv[1], argv[2]);
    }
    MPI_Bcast(&code, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return code;
}
