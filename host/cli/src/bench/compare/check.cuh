// What every comparison program shares: errors end it with a line that says
// what failed, and times are device time between two events.

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t answer = (call);                                           \
        if (answer != cudaSuccess) {                                           \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(answer));    \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

struct Clock {
    cudaEvent_t start, end;

    Clock() {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&end));
    }

    void begin(cudaStream_t stream) { CHECK(cudaEventRecord(start, stream)); }

    // Nanoseconds since begin, when all queued work is done.
    double finish(cudaStream_t stream) {
        float milliseconds = 0;
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaEventSynchronize(end));
        CHECK(cudaEventElapsedTime(&milliseconds, start, end));
        return milliseconds * 1e6;
    }
};

static int argument(int count, char **values, int at) {
    if (at >= count) {
        fprintf(stderr, "argument %d is missing\n", at);
        exit(1);
    }
    return atoi(values[at]);
}
