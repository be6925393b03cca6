// A CUDA graph that is a chain of empty kernels: what the order alone costs.
//
// Arguments: device, nodes of the chain. Prints nanoseconds a node, the best
// of five launches.

#include "check.cuh"

__global__ void nothing() {}

int main(int count, char **values) {
    CHECK(cudaSetDevice(argument(count, values, 1)));
    int nodes = argument(count, values, 2);
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int node = 0; node < nodes; node++)
        nothing<<<1, 32, 0, stream>>>();
    cudaGraph_t graph;
    CHECK(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaGraphUpload(executable, stream));
    CHECK(cudaGraphLaunch(executable, stream));
    Clock clock;
    double best = 1e300;
    for (int round = 0; round < 5; round++) {
        clock.begin(stream);
        CHECK(cudaGraphLaunch(executable, stream));
        double time = clock.finish(stream);
        best = time < best ? time : best;
    }
    printf("%.3f\n", best / nodes);
    return 0;
}
