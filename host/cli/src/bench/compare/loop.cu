// A loop as a conditional node of a CUDA graph, whose body is one kernel that
// counts and decides: what an iteration costs at least.
//
// Arguments: device, iterations. Prints nanoseconds an iteration, the best of
// three launches, or "unsupported" where the toolkit or driver has no such
// nodes. Fails when the count differs from the iterations asked for.

#include "check.cuh"

#if CUDART_VERSION >= 12040

__global__ void reset(unsigned *counter) { *counter = 0; }

__global__ void body(cudaGraphConditionalHandle handle, unsigned *counter, unsigned iterations) {
    unsigned done = ++*counter;
    cudaGraphSetConditional(handle, done < iterations);
}

static cudaGraph_t loop(cudaGraph_t graph, cudaGraphConditionalHandle handle) {
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeWhile;
    parameters.conditional.size = 1;
    cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
#else
    CHECK(cudaGraphAddNode(&node, graph, nullptr, 0, &parameters));
#endif
    return parameters.conditional.phGraph_out[0];
}

int main(int count, char **values) {
    CHECK(cudaSetDevice(argument(count, values, 1)));
    unsigned iterations = (unsigned)argument(count, values, 2);
    int driver = 0;
    CHECK(cudaDriverGetVersion(&driver));
    if (driver < 12040) {
        printf("unsupported\n");
        return 0;
    }
    unsigned *counter;
    CHECK(cudaMalloc(&counter, sizeof *counter));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    cudaGraph_t graph;
    CHECK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraph_t inner = loop(graph, handle);
    CHECK(cudaStreamBeginCaptureToGraph(stream, inner, nullptr, nullptr, 0, cudaStreamCaptureModeThreadLocal));
    body<<<1, 1, 0, stream>>>(handle, counter, iterations);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamEndCapture(stream, &inner));
    cudaGraphExec_t executable;
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    Clock clock;
    double best = 1e300;
    for (int round = 0; round < 4; round++) {
        reset<<<1, 1, 0, stream>>>(counter);
        CHECK(cudaGetLastError());
        clock.begin(stream);
        CHECK(cudaGraphLaunch(executable, stream));
        double time = clock.finish(stream);
        best = round > 0 && time < best ? time : best;
        unsigned done = 0;
        CHECK(cudaMemcpyAsync(&done, counter, sizeof done, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        if (done != iterations) {
            fprintf(stderr, "%u iterations ran, not %u\n", done, iterations);
            return 1;
        }
    }
    printf("%.3f\n", best / iterations);
    return 0;
}

#else

int main() {
    printf("unsupported\n");
    return 0;
}

#endif
