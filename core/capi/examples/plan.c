/* Plans a program of six waves with memory that the program owns.
 *
 *     cargo build -p seawall-capi
 *     cc -Icore/capi/include core/capi/examples/plan.c target/debug/libseawall_capi.a \
 *        -lpthread -ldl -lm -o plan && ./plan
 */
#include <inttypes.h>
#include <stdio.h>

#include "seawall.h"

enum { WAVES = 6, DEPENDENCIES = 6 };

static const SeawallWave waves[WAVES] = {
    {64, 16, 256}, {64, 16, 256}, {128, 32, 512}, {64, 16, 256}, {128, 32, 512}, {64, 16, 64},
};

/* Two searches that meet, then a summary. */
static const SeawallDependency dependencies[DEPENDENCIES] = {
    {0, 2}, {1, 2}, {1, 3}, {2, 4}, {3, 4}, {4, 5},
};

/* What seawall_requirements asks for: a multiple of the waves each. */
static uint32_t layer_words[4 * WAVES], dependency_words[DEPENDENCIES];
static uint32_t pack_words[4 * WAVES], arena_words[8 * WAVES];
static uint64_t pack_bytes[2 * WAVES], arena_offsets[3 * WAVES];

static int refused(uint32_t status, const SeawallProblem *problem) {
    fprintf(stderr, "%s: %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", seawall_status_name(status),
            problem->numbers[0], problem->numbers[1], problem->numbers[2]);
    return 1;
}

static const SeawallConvergenceRequest fixpoint = {
    .max_device_iterations = 64,
    .changed_flag_bytes = 4,
};

static void print_groups(const SeawallGroups *groups) {
    size_t wave = 0;
    for (size_t group = 0; group < groups->group_count; group++) {
        printf("group %zu:", group);
        for (; wave < groups->ends[group]; wave++)
            printf(" %" PRIu32, groups->order[wave]);
        printf("\n");
    }
}

int main(void) {
    const SeawallDag dag = {waves, WAVES, dependencies, DEPENDENCIES};
    const SeawallBudget budget = {.resident_bytes = 4096, .budget_bytes = 6144};
    const SeawallArenaOptions options = {.alignment_bytes = 256};
    SeawallBuffers buffers = {
        .layer_words = layer_words,
        .dependency_words = dependency_words,
        .pack_words = pack_words,
        .pack_bytes = pack_bytes,
        .arena_words = arena_words,
        .arena_offsets = arena_offsets,
    };
    SeawallLayers layers;
    SeawallGroups groups;
    SeawallArena arena;
    SeawallOffsets offsets[WAVES];
    SeawallConvergence contract;
    SeawallProblem problem;

    SeawallStatus status = seawall_requirements(WAVES, DEPENDENCIES, &buffers.lengths);
    if (status != SEAWALL_STATUS_OK || buffers.lengths.layer_words > 4 * WAVES)
        return 2;

    status = seawall_plan_layers(&dag, &buffers, &layers, &problem);
    if (status != SEAWALL_STATUS_OK)
        return refused(status, &problem);
    printf("%zu layers\n", layers.layer_count);

    status = seawall_plan(&dag, &budget, &options, &buffers, &groups, &arena, offsets, &problem);
    if (status != SEAWALL_STATUS_OK)
        return refused(status, &problem);
    print_groups(&groups);
    printf("%" PRIu64 " barriers, at most %" PRIu64 " bytes per group\n",
           groups.summary.global_barriers, groups.summary.peak_group_bytes);
    printf("arena of %" PRIu64 " bytes, at least %" PRIu64 "\n", arena.bytes, arena.lower_bound);
    for (size_t wave = 0; wave < WAVES; wave++)
        printf("wave %zu at %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", wave, offsets[wave].frontier,
               offsets[wave].scratch, offsets[wave].output);

    status = seawall_convergence(&fixpoint, &contract, &problem);
    if (status != SEAWALL_STATUS_OK)
        return refused(status, &problem);
    printf("at most %" PRIu32 " iterations, %" PRIu32 " reads of the flag between them\n",
           contract.max_device_iterations, contract.host_iteration_polls);
    return 0;
}
