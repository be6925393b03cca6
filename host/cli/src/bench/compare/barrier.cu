// A grid barrier of cooperative groups.
//
// Arguments: device, then pairs of blocks and lanes. Prints a line
// "blocks lanes nanoseconds" for each pair: the best of five means over 1000
// barriers, launch taken off.

#include "check.cuh"
#include <cooperative_groups.h>

static const int REPEATS = 1000;
static const int ROUNDS = 5;

__global__ void barriers(int count) {
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    for (int i = 0; i < count; i++)
        grid.sync();
}

static double launch(Clock &clock, cudaStream_t stream, int blocks, int lanes, int count) {
    void *parameters[] = {&count};
    clock.begin(stream);
    CHECK(cudaLaunchCooperativeKernel((const void *)barriers, dim3(blocks), dim3(lanes), parameters, 0, stream));
    return clock.finish(stream);
}

int main(int count, char **values) {
    CHECK(cudaSetDevice(argument(count, values, 1)));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    Clock clock;
    for (int at = 2; at + 1 < count; at += 2) {
        int blocks = argument(count, values, at), lanes = argument(count, values, at + 1);
        launch(clock, stream, blocks, lanes, REPEATS);
        double best = 1e300;
        for (int round = 0; round < ROUNDS; round++) {
            double without = launch(clock, stream, blocks, lanes, 0);
            double with = launch(clock, stream, blocks, lanes, REPEATS);
            double mean = (with - without) / REPEATS;
            best = mean < best ? mean : best;
        }
        printf("%d %d %.3f\n", blocks, lanes, best);
    }
    return 0;
}
